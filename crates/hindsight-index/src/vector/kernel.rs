//! The inner loops of the scan.
//!
//! Both sum into an array of lanes in a fixed order, which the compiler turns into vector instructions and which gives
//! the same bits on every machine: nothing here is fused or reassociated.

/// Numbers summed side by side.
const LANES: usize = 16;

/// The dot product of two rows of equal length.
#[must_use]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    let mut width = LANES / 2;
    while width > 0 {
        for lane in 0..width {
            lanes[lane] += lanes[lane + width];
        }
        width /= 2;
    }
    lanes[0] + rest
}

/// The dot product of a row in eight bits and a query in sixteen. The query's levels are few enough that the sum fits.
#[must_use]
pub(crate) fn dot_quantised(row: &[i8], query: &[i16]) -> i32 {
    let mut lanes = [0_i32; LANES];
    let (row, row_rest) = row.as_chunks::<LANES>();
    let (query, query_rest) = query.as_chunks::<LANES>();
    for (row, query) in row.iter().zip(query) {
        for lane in 0..LANES {
            lanes[lane] += i32::from(row[lane]) * i32::from(query[lane]);
        }
    }
    let rest: i32 =
        row_rest.iter().zip(query_rest).map(|(row, query)| i32::from(*row) * i32::from(*query)).sum();
    lanes.iter().sum::<i32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_right_at_every_length() {
        for len in [1, 2, 15, 16, 17, 31, 32, 33, 384, 1_000] {
            let a: Vec<f32> = (0..len).map(|i| (i % 7) as f32 - 3.0).collect();
            let b: Vec<f32> = (0..len).map(|i| (i % 5) as f32 - 2.0).collect();
            let expected: f32 = a.iter().zip(&b).map(|(a, b)| a * b).sum();
            assert_eq!(dot(&a, &b), expected, "small whole numbers sum without rounding");
            let row: Vec<i8> = (0..len).map(|i| (i % 255) as i8).collect();
            let query: Vec<i16> = (0..len).map(|i| (i * 13 % 4_001) as i16 - 2_000).collect();
            let expected: i32 = row.iter().zip(&query).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            assert_eq!(dot_quantised(&row, &query), expected);
        }
    }
}
