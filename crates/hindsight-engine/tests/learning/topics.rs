//! Things that can be asked about: each has three values one after another, every one said in words of its own.

/// One thing that has one value at a time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Topic {
    pub(crate) subject: &'static str,
    pub(crate) attribute: &'static str,
    /// Value, and the sentence that says it; later ones replace earlier ones.
    pub(crate) said: [(&'static str, &'static str); 3],
    pub(crate) question: &'static str,
}

macro_rules! topics {
    ($([$subject:literal $attribute:literal: $($value:literal => $said:literal),+ ; $question:literal])+) => {
        &[$(Topic { subject: $subject, attribute: $attribute, said: [$(($value, $said)),+], question: $question }),+]
    };
}

pub(crate) const TOPICS: &[Topic] = topics! {
    ["Mei" "home city": "Bern" => "Mei lives in Bern, near the river", "Oslo" => "Mei has moved, her home is Oslo now",
        "Turin" => "Since spring Mei has a flat in Turin"; "in which city does Mei live"]
    ["billing" "owner": "Priya" => "Priya owns the billing service", "Tomás" => "The billing service was handed to Tomás",
        "Ines" => "Ines took the billing service over"; "who owns the billing service"]
    ["gateway" "rate limit": "500" => "The gateway allows 500 requests a minute",
        "800" => "The gateway's limit was raised to 800 requests a minute",
        "650" => "The gateway is down to 650 requests a minute"; "how many requests a minute does the gateway allow"]
    ["staging" "database": "mysql" => "Staging runs on a MySQL database", "postgres" => "Staging's database is Postgres these days",
        "cockroach" => "Staging was moved to a Cockroach database"; "which database does staging use"]
    ["Jonas" "diet": "vegetarian" => "Jonas eats vegetarian food", "vegan" => "Jonas went vegan, no milk in his food",
        "anything" => "Jonas eats any food again"; "what food does Jonas eat"]
    ["newsletter" "weekday": "Monday" => "The newsletter is sent on Monday", "Thursday" => "From now the newsletter goes out Thursday",
        "Sunday" => "The newsletter has its day on Sunday"; "on which day is the newsletter sent"]
    ["deploy" "tool": "ansible" => "A deploy is done with Ansible", "argo" => "A deploy goes through Argo only",
        "spinnaker" => "Every deploy was switched to Spinnaker"; "with what is a deploy done"]
    ["warehouse door" "code": "4711" => "The code of the warehouse door is 4711", "9042" => "The warehouse door has the new code 9042",
        "1338" => "The warehouse door opens with code 1338"; "what is the code of the warehouse door"]
    ["Lena" "running goal": "ten kilometres" => "Lena trains for ten kilometres", "half marathon" => "Lena trains for a half marathon",
        "marathon" => "Lena trains for the whole marathon in autumn"; "what does Lena train for"]
    ["invoice template" "currency": "EUR" => "The invoice template prints amounts in EUR",
        "CHF" => "The invoice template was set to CHF", "USD" => "The invoice template shows USD";
        "which currency does the invoice template show"]
    ["backup" "hour": "two" => "The nightly backup begins at two", "four" => "The nightly backup was put off until four",
        "midnight" => "The nightly backup starts at midnight"; "when does the nightly backup begin"]
    ["Otto" "doctor": "Dr. Weiss" => "Otto's doctor is Dr. Weiss", "Dr. Amann" => "Otto changed to the doctor Dr. Amann",
        "Dr. Roth" => "Otto sees the doctor Dr. Roth"; "who is Otto's doctor"]
    ["李雷" "城市": "上海" => "李雷住在上海浦东", "杭州" => "李雷搬家了，现在住在杭州", "成都" => "李雷今年住到成都去了"; "李雷住在哪个城市"]
    ["韩梅" "健身目标": "减脂" => "韩梅的健身目标是减脂", "增肌" => "韩梅的健身目标改成增肌", "跑马拉松" => "韩梅的健身目标是跑马拉松"; "韩梅的健身目标是什么"]
    ["值班" "电话": "8080" => "值班电话是分机8080", "8123" => "值班电话换成分机8123", "8555" => "值班电话改到分机8555"; "值班电话是多少"]
    ["周报" "截止时间": "周五" => "周报在周五之前交", "周四" => "周报提前到周四交", "周一" => "周报推迟到周一交"; "周报什么时候交"]
    ["订单接口" "超时": "三秒" => "订单接口的超时是三秒", "五秒" => "订单接口的超时调到五秒", "十秒" => "订单接口的超时放宽到十秒"; "订单接口的超时是多少"]
    ["王芳" "过敏原": "花生" => "王芳对花生过敏", "海鲜" => "检查后王芳只对海鲜过敏", "芒果" => "医生说王芳对芒果过敏"; "王芳对什么过敏"]
    ["测试环境" "负责人": "赵强" => "测试环境由赵强负责", "孙丽" => "测试环境交给孙丽负责", "周涛" => "测试环境换周涛负责"; "测试环境由谁负责"]
    ["会议室" "密码": "2580" => "会议室的密码是2580", "3690" => "会议室的新密码为3690", "1470" => "会议室密码又改成1470"; "会议室的密码是多少"]
    ["小明" "口味": "微辣" => "小明点菜要微辣口味", "不辣" => "小明点菜改要不辣口味", "重辣" => "小明点菜要重辣口味了"; "小明点菜要什么口味"]
    ["退款" "审批人": "财务部" => "退款由财务部审批", "店长" => "退款现在由店长审批", "客服主管" => "退款改由客服主管审批"; "退款由谁审批"]
    ["日志" "保留天数": "三十天" => "日志保留三十天", "六十天" => "日志保留期延长到六十天", "七天" => "日志只保留七天"; "日志保留多少天"]
    ["猫" "猫粮": "鸡肉味" => "家里的猫吃鸡肉味猫粮", "三文鱼味" => "家里的猫换吃三文鱼味猫粮", "牛肉味" => "家里的猫现在吃牛肉味猫粮"; "家里的猫吃什么猫粮"]
};
