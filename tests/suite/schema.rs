//! Checks documents against the JSON Schemas of the program: the keywords that these use, and no others.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::nimlanes;

/// Checks a document against what `nimlanes schema` prints for its format.
pub fn follows_its_schema(document: &Value) {
    let [format, kind] = ["schema", "kind"].map(|field| document[field].as_str().unwrap_or_default());
    let name = if format == "nimlanes-saved-1" { format!("{format}/{kind}") } else { format.to_owned() };
    let output = nimlanes().args(["schema", &name]).assert().success().get_output().stdout.clone();
    let schema = serde_json::from_slice(&output).expect("JSON on stdout");
    if let Err(why) = check(&schema, document) {
        panic!("{name}: {why}: {document}");
    }
}

/// Checks a document. Each field of each object must be one of its schema's.
fn check(schema: &Value, document: &Value) -> Result<(), String> {
    Definitions(&schema["$defs"]).whole(schema, document)
}

/// What schemas refer to.
#[derive(Clone, Copy)]
struct Definitions<'a>(&'a Value);

impl<'a> Definitions<'a> {
    fn whole(self, schema: &'a Value, value: &Value) -> Result<(), String> {
        let known = self.known(schema, value)?;
        match fields(value).find(|(name, _)| !known.contains(name.as_str())) {
            Some((name, _)) => Err(format!("the schema has no field `{name}`")),
            None => Ok(()),
        }
    }

    /// Checks a value, and returns the fields that the schema describes.
    fn known<'v>(self, schema: &'a Value, value: &'v Value) -> Result<BTreeSet<&'v str>, String> {
        let names = || fields(value).map(|(name, _)| name.as_str());
        let Value::Object(keywords) = schema else {
            return if *schema == Value::Bool(true) { Ok(names().collect()) } else { Err(format!("{schema}")) };
        };
        let items = value.as_array().map_or(&[][..], Vec::as_slice);
        let fixed = list(&schema["prefixItems"]);
        let mut known = BTreeSet::new();
        for (keyword, rule) in keywords {
            let holds = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" | "default" | "format" => true,
                "const" => value == rule,
                "type" => list(rule).iter().any(|name| has_type(value, name)),
                // These hold for values of other types.
                "minimum" => value.as_f64().is_none_or(|number| Some(number) >= rule.as_f64()),
                "maximum" => value.as_f64().is_none_or(|number| Some(number) <= rule.as_f64()),
                "minItems" => !value.is_array() || Some(items.len() as u64) >= rule.as_u64(),
                "maxItems" => !value.is_array() || Some(items.len() as u64) <= rule.as_u64(),
                "required" => !value.is_object() || list(rule).iter().all(|name| names().any(|known| known == *name)),
                "prefixItems" => fixed.iter().zip(items).try_for_each(|(rule, item)| self.whole(rule, item)).is_ok(),
                "items" => items.iter().skip(fixed.len()).try_for_each(|item| self.whole(rule, item)).map(|()| true)?,
                "properties" => {
                    let described = fields(value).filter_map(|(name, inner)| Some((name, rule.get(name)?, inner)));
                    for (name, rule, inner) in described {
                        self.whole(rule, inner).map_err(|why| format!("{name}: {why}"))?;
                        known.insert(name.as_str());
                    }
                    true
                }
                "additionalProperties" => {
                    known.extend(names());
                    let others = fields(value).filter(|(name, _)| schema["properties"].get(name).is_none());
                    others.map(|(_, inner)| inner).try_for_each(|inner| self.whole(rule, inner)).map(|()| true)?
                }
                "$ref" => {
                    let name = rule.as_str().and_then(|path| path.strip_prefix("#/$defs/")).expect("a definition");
                    known.extend(self.known(&self.0[name], value)?);
                    true
                }
                "anyOf" | "oneOf" => {
                    let all = list(rule).iter().filter_map(|one| self.known(one, value).ok()).collect::<Vec<_>>();
                    let count = all.len();
                    known.extend(all.into_iter().flatten());
                    count == 1 || count > 1 && keyword == "anyOf"
                }
                _ => return Err(format!("the keyword {keyword} is not checked here")),
            };
            if !holds {
                return Err(format!("not {keyword} {rule}: {value}"));
            }
        }
        Ok(known)
    }
}

fn fields(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flat_map(Map::iter)
}

/// A list, or one value in place of a list of one.
fn list(value: &Value) -> &[Value] {
    match value {
        Value::Array(list) => list,
        Value::Null => &[],
        one => std::slice::from_ref(one),
    }
}

fn has_type(value: &Value, name: &Value) -> bool {
    match name.as_str().expect("a name") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

#[test]
fn what_differs_from_a_schema_is_named() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "n": { "$ref": "#/$defs/count" }, "pair": { "prefixItems": [{ "const": 1 }], "items": { "type": "string" } } },
        "required": ["n"],
        "anyOf": [{ "properties": { "a": true } }, { "required": ["b"] }],
        "$defs": { "count": { "type": ["integer", "null"], "minimum": 2, "maximum": 9 } },
    });
    let says = |text: &str| check(&schema, &serde_json::from_str(text).expect("JSON"));
    assert_eq!(says(r#"{"n": 3, "a": [{"x": 1}], "pair": [1, "one"]}"#), Ok(()));
    for (text, why) in [
        ("[]", "not type"),
        ("{}", "not required"),
        (r#"{"n": 1}"#, "n: not minimum"),
        (r#"{"n": 10}"#, "n: not maximum"),
        (r#"{"n": 2.5}"#, "n: not type"),
        (r#"{"n": 2, "c": 1}"#, "no field `c`"),
        (r#"{"n": 2, "pair": [2]}"#, "pair: not prefixItems"),
        (r#"{"n": 2, "pair": [1, 2]}"#, "pair: not type"),
    ] {
        let said = says(text).expect_err(text);
        assert!(said.contains(why), "{text}: {said}");
    }
}
