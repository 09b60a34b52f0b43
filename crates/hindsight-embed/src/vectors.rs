//! The vectors of the pieces, read where they lie.

use safetensors::{Dtype, SafeTensors, tensor::TensorView};

use crate::error::LoadError;

/// One int8 row and one f32 scale per piece; the vector of a piece is row · scale. Nothing is copied: as f32 the
/// table would take four times its size.
pub(crate) struct PieceVectors {
    rows: &'static [u8],
    scales: &'static [[u8; size_of::<f32>()]],
    dimension: usize,
}

impl PieceVectors {
    /// Finds the two tensors and checks type, shape and scales, so that no later read can miss.
    pub(crate) fn load(model: &'static [u8], dimension: usize) -> Result<PieceVectors, LoadError> {
        let tensors = SafeTensors::deserialize(model).map_err(|source| LoadError::Tensors { source })?;
        let scales = tensor(&tensors, "scales", Dtype::F32)?;
        let vectors = tensor(&tensors, "vectors", Dtype::I8)?;

        // A scale is read as four bytes: the tensor need not be aligned for f32.
        let (scale_bytes, _) = scales.data().as_chunks();
        let pieces = scale_bytes.len();
        check_shape("scales", &scales, &[pieces])?;
        check_shape("vectors", &vectors, &[pieces, dimension])?;
        for (id, bytes) in scale_bytes.iter().enumerate() {
            let scale = f32::from_le_bytes(*bytes);
            if !scale.is_finite() || scale < 0.0 {
                return Err(LoadError::Scale { id, scale });
            }
        }
        Ok(PieceVectors { rows: vectors.data(), scales: scale_bytes, dimension })
    }

    /// How many pieces have a vector.
    pub(crate) fn len(&self) -> usize {
        self.scales.len()
    }

    /// Adds the vector of a piece to `sum`, which has as many components as the model. Multiplication and addition
    /// stay apart (no fused step), so every machine gets the same bits.
    pub(crate) fn add(&self, id: u32, sum: &mut [f32]) {
        let id = id as usize;
        let scale = f32::from_le_bytes(self.scales[id]);
        let row = &self.rows[id * self.dimension..][..self.dimension];
        for (component, value) in sum.iter_mut().zip(row) {
            *component += f32::from(value.cast_signed()) * scale;
        }
    }
}

fn tensor(
    tensors: &SafeTensors<'static>,
    name: &'static str,
    expected: Dtype,
) -> Result<TensorView<'static>, LoadError> {
    let view = tensors.tensor(name).map_err(|source| LoadError::Tensors { source })?;
    if view.dtype() == expected {
        Ok(view)
    } else {
        Err(LoadError::ElementType { tensor: name, found: view.dtype(), expected })
    }
}

fn check_shape(
    tensor: &'static str,
    view: &TensorView<'static>,
    expected: &[usize],
) -> Result<(), LoadError> {
    if view.shape() == expected {
        Ok(())
    } else {
        Err(LoadError::Shape { tensor, found: view.shape().to_vec(), expected: expected.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(scale_bits: &[f32], rows: &[u8], shape: Vec<usize>, row_type: Dtype) -> &'static [u8] {
        let scales: Vec<u8> = scale_bits.iter().flat_map(|scale| scale.to_le_bytes()).collect();
        let scales = TensorView::new(Dtype::F32, vec![scale_bits.len()], &scales).unwrap();
        let vectors = TensorView::new(row_type, shape, rows).unwrap();
        let bytes = safetensors::serialize([("scales", scales), ("vectors", vectors)], None).unwrap();
        Box::leak(bytes.into_boxed_slice())
    }

    fn error(model: &'static [u8]) -> LoadError {
        PieceVectors::load(model, 3).err().unwrap()
    }

    #[test]
    fn a_row_is_signed_and_scaled() {
        let vectors =
            PieceVectors::load(model(&[2.0, 0.5], &[1, 2, 3, 0xFF, 0x80, 0x7F], vec![2, 3], Dtype::I8), 3)
                .unwrap();
        let mut sum = [10.0; 3];
        vectors.add(1, &mut sum);
        assert_eq!(sum, [9.5, -54.0, 73.5]);
        vectors.add(0, &mut sum);
        assert_eq!(sum, [11.5, -50.0, 79.5]);
        assert_eq!(vectors.len(), 2);
    }

    #[test]
    fn a_foreign_model_is_refused() {
        assert!(matches!(error(b"not a model"), LoadError::Tensors { .. }));
        let wide = error(model(&[1.0], &[1, 2, 3, 4], vec![1, 4], Dtype::I8));
        assert!(
            matches!(wide, LoadError::Shape { tensor: "vectors", ref expected, .. } if *expected == [1, 3]),
            "{wide}"
        );
        let few = error(model(&[1.0, 1.0], &[1, 2, 3], vec![1, 3], Dtype::I8));
        assert!(matches!(few, LoadError::Shape { tensor: "vectors", .. }), "{few}");
        let unsigned = error(model(&[1.0], &[1, 2, 3], vec![1, 3], Dtype::U8));
        assert!(matches!(unsigned, LoadError::ElementType { found: Dtype::U8, .. }), "{unsigned}");
        for scale in [f32::NAN, f32::INFINITY, -1.0] {
            let bad = error(model(&[1.0, scale], &[0; 6], vec![2, 3], Dtype::I8));
            assert!(matches!(bad, LoadError::Scale { id: 1, .. }), "{bad}");
        }
    }
}
