//! Just enough JSON: fields appended to a byte buffer, without allocating.

/// Appends fields of one object. The caller writes the braces.
pub(crate) struct Fields<'b>(pub(crate) &'b mut Vec<u8>);

impl Fields<'_> {
    /// `"t":…,"e":"…"`, with which every line begins.
    pub(crate) fn begin(&mut self, t: u64, e: &str) -> &mut Self {
        self.0.extend_from_slice(b"\"t\":");
        number(self.0, t);
        self.raw(b",\"e\":\"").raw(e.as_bytes()).raw(b"\"")
    }

    fn key(&mut self, name: &str) -> &mut Self {
        self.raw(b",\"").raw(name.as_bytes()).raw(b"\":")
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub(crate) fn number(&mut self, name: &str, value: u64) -> &mut Self {
        self.key(name);
        number(self.0, value);
        self
    }

    pub(crate) fn integer(&mut self, name: &str, value: i64) -> &mut Self {
        self.key(name);
        integer(self.0, value);
        self
    }

    pub(crate) fn number_or_null(&mut self, name: &str, value: Option<u64>) -> &mut Self {
        match value {
            Some(value) => self.number(name, value),
            None => self.null(name),
        }
    }

    /// A number that can pass 2^53, as a decimal string.
    pub(crate) fn big(&mut self, name: &str, value: u64) -> &mut Self {
        self.key(name).raw(b"\"");
        number(self.0, value);
        self.raw(b"\"")
    }

    /// A signed number that can pass 2^53, as a decimal string.
    pub(crate) fn big_integer(&mut self, name: &str, value: i64) -> &mut Self {
        self.key(name).raw(b"\"");
        integer(self.0, value);
        self.raw(b"\"")
    }

    pub(crate) fn boolean(&mut self, name: &str, value: bool) -> &mut Self {
        self.key(name).raw(if value { b"true" } else { b"false" })
    }

    /// A word or an id: nothing in it needs escaping.
    pub(crate) fn word(&mut self, name: &str, value: &str) -> &mut Self {
        self.key(name).raw(b"\"").raw(value.as_bytes()).raw(b"\"")
    }

    /// Any text, cut at `limit` bytes.
    pub(crate) fn text(&mut self, name: &str, value: &str, limit: usize) -> &mut Self {
        self.key(name);
        text(self.0, cut(value, limit));
        self
    }

    pub(crate) fn text_or_null(
        &mut self,
        name: &str,
        value: Option<&str>,
        limit: usize,
    ) -> &mut Self {
        match value {
            Some(value) => self.text(name, value, limit),
            None => self.null(name),
        }
    }

    pub(crate) fn null(&mut self, name: &str) -> &mut Self {
        self.key(name).raw(b"null")
    }

    /// A list; `write` puts in one element.
    pub(crate) fn list<T>(
        &mut self,
        name: &str,
        items: &[T],
        mut write: impl FnMut(&mut Fields, &T),
    ) -> &mut Self {
        self.key(name).raw(b"[");
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.raw(b",");
            }
            write(self, item);
        }
        self.raw(b"]")
    }

    /// An object as an element of a list; `write` puts in fields, the first without its comma.
    pub(crate) fn object(&mut self, write: impl FnOnce(&mut Fields)) {
        let comma = self.0.len();
        write(self);
        match self.0.get_mut(comma) {
            Some(byte) => *byte = b'{',
            None => self.0.push(b'{'),
        }
        self.0.push(b'}');
    }

    /// An object as a field.
    pub(crate) fn nested(&mut self, name: &str, write: impl FnOnce(&mut Fields)) -> &mut Self {
        self.key(name);
        self.object(write);
        self
    }

    /// A string as an element of a list.
    pub(crate) fn element(&mut self, value: &str, limit: usize) {
        text(self.0, cut(value, limit));
    }
}

/// The text's longest beginning of at most `limit` bytes.
fn cut(value: &str, limit: usize) -> &str {
    let mut end = limit.min(value.len());
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    value.get(..end).unwrap_or("")
}

pub(crate) fn number(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

pub(crate) fn integer(out: &mut Vec<u8>, value: i64) {
    if value < 0 {
        out.push(b'-');
    }
    number(out, value.unsigned_abs());
}

fn text(out: &mut Vec<u8>, value: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for byte in value.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..=0x1f | 0x7f => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[(byte >> 4) as usize]);
                out.push(HEX[(byte & 15) as usize]);
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(write: impl FnOnce(&mut Fields)) -> String {
        let mut out = Vec::new();
        write(&mut Fields(&mut out));
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn numbers_at_their_ends() {
        assert_eq!(
            line(|f| {
                f.number("a", 0).number("b", u64::MAX);
            }),
            r#","a":0,"b":18446744073709551615"#
        );
        assert_eq!(
            line(|f| {
                f.integer("a", i64::MIN).big("b", 7);
            }),
            r#","a":-9223372036854775808,"b":"7""#
        );
    }

    #[test]
    fn text_is_escaped_and_cut_between_characters() {
        assert_eq!(
            line(|f| {
                f.text("m", "\"\\\n\r\t\u{1}\u{7f}é𝔽", 99);
            }),
            ",\"m\":\"\\\"\\\\\\n\\r\\t\\u0001\\u007fé𝔽\""
        );
        assert_eq!(
            line(|f| {
                f.text("m", "aé", 2);
            }),
            r#","m":"a""#
        );
    }

    #[test]
    fn objects_in_lists() {
        let two = line(|f| {
            f.list("l", &[1, 2], |f, n| {
                f.object(|f| {
                    f.number("n", *n);
                })
            });
        });
        assert_eq!(two, r#","l":[{"n":1},{"n":2}]"#);
        assert_eq!(
            line(|f| {
                f.list("l", &[(); 1], |f, _| f.object(|_| ()));
            }),
            r#","l":[{}]"#
        );
    }
}
