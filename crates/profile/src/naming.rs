//! One spelling for each frame. Profilers mark, number and separate the same frame in different
//! ways; here are the known ways, and nothing else is touched.
//!
//! Two steps. The *canonical* name is what tables show: dots between packages, `[B` for arrays,
//! without the marks of async-profiler and without blanks around. The *comparable* name is what
//! two runs are compared by: without the numbers that a JVM gives to classes and threads anew in
//! each run. What a page shows of a thread has no address of a host ([`shown`]).
//!
//! Traps that others fell into with names and stacks, and where each is tested:
//!
//! | trap | test |
//! |---|---|
//! | 24: numbers of hidden classes differ per run | `comparable_names`, `packages`; `diff::tests::numbers_of_lambdas_are_no_change` |
//! | 28: recursion above 100 % | `stacks::tests::recursion_counts_once`; `shares::tests::inclusive_counts_each_package_once_per_sample` |
//! | 29: hosts in names of threads | `threads_are_shown_without_hosts` |
//! | 44: marks in known form only, weight after the last blank, semicolons | `canonical_names`; `collapsed::tests::blanks_semicolons_and_weights`, `canonical_names_join_what_marks_split` |

use std::borrow::Cow;

use record::thread_name::without_addresses;

/// How frames of a file become names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Naming {
    /// [`canonical`].
    #[default]
    Canonical,
    /// Byte for byte, for a check against another reader.
    AsWritten,
}

/// The canonical name of a frame.
#[must_use]
pub fn canonical(frame: &str) -> Cow<'_, str> {
    let name = without_mark(frame.trim());
    if let Some(array) = array_type(name) {
        return Cow::Owned(array);
    }
    dotted(name)
}

/// Without the mark that async-profiler appends: `_[j]` compiled, `_[i]` inlined, `_[0]`
/// interpreted, `_[1]` compiled by C1, `_[k]` kernel, and on leaves of an allocation profile in a
/// new TLAB or outside. Only these, for a name may end in brackets by itself.
#[must_use]
pub fn without_mark(frame: &str) -> &str {
    match frame.as_bytes() {
        [.., b'_', b'[', b'j' | b'i' | b'0' | b'1' | b'k', b']'] => &frame[..frame.len() - 4],
        _ => frame,
    }
}

/// `a/b/C.method` as `a.b.C.method`; a signature after it stays as it is, and so does anything
/// that is no method of Java.
fn dotted(name: &str) -> Cow<'_, str> {
    let head = &name[..name.find('(').unwrap_or(name.len())];
    let Some(slash) = head.rfind('/') else { return Cow::Borrowed(name) };
    let plain =
        |byte: u8| byte.is_ascii_alphanumeric() || b"_$/.-+<>".contains(&byte) || byte > 127;
    let is_method = !head.starts_with('/')
        && head[slash..].contains('.')
        && !head.ends_with('.')
        && head.bytes().all(plain);
    // A dot before the first slash is a file or a host: `libc.so/x`, `github.com/x`.
    let first = head.find('/').unwrap_or(slash);
    if !is_method || head[..first].contains('.') {
        return Cow::Borrowed(name);
    }
    Cow::Owned(format!("{}{}", head.replace('/', "."), &name[head.len()..]))
}

/// `byte[]` as `[B`, `java.lang.String[]` as `[Ljava.lang.String;`: the constant pool's spelling.
fn array_type(name: &str) -> Option<String> {
    let mut element = name;
    let mut depth = 0;
    while let Some(inner) = element.strip_suffix("[]") {
        element = inner;
        depth += 1;
    }
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_$./+".contains(&byte) || byte > 127;
    if depth == 0 || element.is_empty() || !element.bytes().all(plain) {
        return None;
    }
    let element = match element {
        "byte" => "B".to_owned(),
        "char" => "C".to_owned(),
        "double" => "D".to_owned(),
        "float" => "F".to_owned(),
        "int" => "I".to_owned(),
        "long" => "J".to_owned(),
        "short" => "S".to_owned(),
        "boolean" => "Z".to_owned(),
        class => format!("L{};", class.replace('/', ".")),
    };
    Some("[".repeat(depth) + &element)
}

/// The comparable name of a canonical one: without the numbers of hidden classes
/// (`A$$Lambda$16/0x7f.run`, `A$$Lambda+0x7f.run`, `LambdaForm$MH.0x7f.invoke`), of generated
/// accessors and proxies, and of threads (`[main tid=7]`), whose names lose addresses of hosts.
#[must_use]
pub fn comparable(name: &str) -> Cow<'_, str> {
    if let Some(thread) = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
        if let Some((thread, tid)) = thread.rsplit_once(" tid=")
            && !tid.is_empty()
            && tid.bytes().all(|byte| byte.is_ascii_digit())
        {
            return Cow::Owned(format!("[{}]", without_addresses(thread)));
        }
        return Cow::Borrowed(name);
    }
    let mut found = Cow::Borrowed(name);
    for (word, number) in MADE_UP {
        let Some(at) = found.find(word) else { continue };
        let end = at + word.len();
        let cut = end + number(&found[end..]);
        if cut > end {
            found = Cow::Owned(format!("{}{}", &found[..end], &found[cut..]));
        }
    }
    found
}

/// How long the number at the start of a text is.
type NumberLength = fn(&str) -> usize;

/// What a JVM makes up, by the word before the number.
const MADE_UP: &[(&str, NumberLength)] = &[
    ("$$Lambda", hidden_id),
    ("LambdaForm$MH", hidden_id),
    ("LambdaForm$DMH", hidden_id),
    ("LambdaForm$BMH", hidden_id),
    ("LambdaForm$VH", hidden_id),
    ("GeneratedMethodAccessor", digits),
    ("GeneratedConstructorAccessor", digits),
    ("GeneratedSerializationConstructorAccessor", digits),
    ("$Proxy", digits),
];

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// `$16/0x00007fd500006400`, `$16/1234567`, `+0x00007fd5`, `.0x00007fd5`, `/0x00007fd5`; more than
/// one of them, as in `$99+0x7f.123`, which some readers write.
fn hidden_id(text: &str) -> usize {
    let mut length = 0;
    loop {
        let rest = &text[length..];
        let step = match rest.as_bytes() {
            [b'$', digit, ..] if digit.is_ascii_digit() => 1 + digits(&rest[1..]),
            [b'/' | b'+' | b'.', b'0', b'x', ..] => {
                3 + rest[3..].bytes().take_while(u8::is_ascii_hexdigit).count()
            }
            [b'/' | b'+', digit, ..] if digit.is_ascii_digit() => 1 + digits(&rest[1..]),
            [b'.', digit, ..] if length > 0 && digit.is_ascii_digit() => 1 + digits(&rest[1..]),
            _ => return length,
        };
        length += step;
    }
}

/// A canonical name as a page shows it: that of a thread without addresses of hosts.
#[must_use]
pub fn shown(name: &str) -> Cow<'_, str> {
    match name.starts_with('[') && name.ends_with(']') {
        true => Cow::Owned(without_addresses(name)),
        false => Cow::Borrowed(name),
    }
}

/// The package of a frame that is no method of Java.
pub const NATIVE: &str = "(native)";
/// The package of a class that has none.
pub const UNNAMED: &str = "(unnamed package)";
/// The package of a frame that stands for a thread.
pub const THREAD: &str = "(thread)";

/// The package of a method by its canonical name: `a.b` of `a.b.C.method(I)V`. That of a lambda's
/// class is its host's.
#[must_use]
pub fn package(name: &str) -> &str {
    if name.starts_with('[') {
        return THREAD;
    }
    let head = &name[..name.find('(').unwrap_or(name.len())];
    // A hidden class has a dot in its number, after its package.
    let lambda = head.find("$$Lambda");
    let head = &head[..lambda.unwrap_or(head.len())];
    let method = if lambda.is_some() { Some(head.len()) } else { head.rfind('.') };
    let identifier = |part: &str| {
        !part.is_empty()
            && !part.starts_with(|c: char| c.is_ascii_digit())
            && part.bytes().all(|byte| {
                byte.is_ascii_alphanumeric() || b"_$-+<>/".contains(&byte) || byte > 127
            })
    };
    let parts = |part: &str| identifier(part) || part.starts_with("0x");
    let is_java = method.is_some() && head.split('.').all(parts) && !head.ends_with(".so");
    let end = method.and_then(|method| head[..method].rfind('.'));
    match end {
        _ if !is_java => NATIVE,
        Some(end) => {
            let package = &head[..end];
            // `java.lang.invoke.LambdaForm$MH.0x7f.invoke`: the class is one part further left.
            match head[end + 1..].starts_with("0x") {
                true => package.rfind('.').map_or(UNNAMED, |end| &package[..end]),
                false => package,
            }
        }
        None => UNNAMED,
    }
}

/// A prefix of names that a user wrote, with either separator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    written: String,
    dotted: String,
}

impl Pattern {
    /// `io/evitadb`, `io.evitadb.`, `a.b.C`, `a.b.C.method`.
    #[must_use]
    pub fn new(written: &str) -> Self {
        let dotted = written.trim().replace('/', ".");
        Self { written: written.to_owned(), dotted: dotted.trim_end_matches('.').to_owned() }
    }

    /// As the user wrote it.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether a canonical name is this or lies beneath it. `a.b` is not beneath `a.bc`.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        if name.contains('/') {
            return self.beneath(&name.replace('/', "."));
        }
        self.beneath(name)
    }

    fn beneath(&self, name: &str) -> bool {
        !self.dotted.is_empty()
            && name.strip_prefix(self.dotted.as_str()).is_some_and(|rest| {
                rest.is_empty() || rest.starts_with(['.', '$', '(', ':', '+', ';'])
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_names() {
        for (frame, expected) in [
            ("fixture/lab/Hot.fib", "fixture.lab.Hot.fib"),
            ("fixture/lab/Hot.fib_[j]", "fixture.lab.Hot.fib"),
            ("fixture/lab/Hot.fib(I)I_[i]", "fixture.lab.Hot.fib(I)I"),
            ("a/B.m([Ljava/lang/String|)V_[0]", "a.B.m([Ljava/lang/String|)V"),
            ("  a/B.m  ", "a.B.m"),
            ("a/B$$Lambda$16/0x00007f.run", "a.B$$Lambda$16.0x00007f.run"),
            ("byte[]_[i]", "[B"),
            ("java.util.HashMap$Node[]_[k]", "[Ljava.util.HashMap$Node;"),
            ("long[][]", "[[J"),
            ("java.lang.String_[i]", "java.lang.String"),
            ("do_syscall_64_[k]", "do_syscall_64"),
        ] {
            assert_eq!(canonical(frame), expected);
        }
        // What is not known stays: other marks, C++, Go, files, threads.
        for frame in [
            "a.B.m_[x]",
            "a.B.m[j]",
            "operator delete[]",
            "std::vector<int>::push_back",
            "github.com/x/y.Func",
            "net/http.(*conn).serve",
            "/usr/lib/libc.so.6",
            "[main tid=7]",
            "",
        ] {
            assert_eq!(canonical(frame), frame);
        }
    }

    /// Trap 24 and 44: numbers that differ per run.
    #[test]
    fn comparable_names() {
        for (name, expected) in [
            ("a.B$$Lambda$16.0x00007fd5.run", "a.B$$Lambda.run"),
            ("a.B$$Lambda$99+0x00007fd5.run", "a.B$$Lambda.run"),
            ("a.B$$Lambda.0x00007fd5.run", "a.B$$Lambda.run"),
            ("a.B$$Lambda/0x00007fd5.run", "a.B$$Lambda.run"),
            ("a.B$$Lambda$3/1234567.run", "a.B$$Lambda.run"),
            ("a.B$$Lambda$3", "a.B$$Lambda"),
            (
                "java.lang.invoke.LambdaForm$MH.0x00007fd500006400.invoke",
                "java.lang.invoke.LambdaForm$MH.invoke",
            ),
            (
                "jdk.internal.reflect.GeneratedMethodAccessor12.invoke",
                "jdk.internal.reflect.GeneratedMethodAccessor.invoke",
            ),
            ("jdk.proxy2.$Proxy7.close", "jdk.proxy2.$Proxy.close"),
            ("[http-nio-8080-exec-1 tid=4711]", "[http-nio-8080-exec-1]"),
            ("[http-nio-10.0.0.7-8080-exec-1 tid=4711]", "[http-nio-<address>-8080-exec-1]"),
        ] {
            assert_eq!(comparable(name), expected);
        }
        for name in
            ["a.B.lambda$run$3", "a.B$1.run", "a.B$$LambdaHelper.x", "[B", "[main]", "x.Proxy1.y"]
        {
            assert_eq!(comparable(name), name);
        }
    }

    /// Trap 29: what a page shows has no host; methods keep all their digits.
    #[test]
    fn threads_are_shown_without_hosts() {
        assert_eq!(shown("[redis 10.1.2.3:6379 tid=8]"), "[redis <address>:6379 tid=8]");
        assert_eq!(shown("a.B$$Lambda.1.2.3.4"), "a.B$$Lambda.1.2.3.4");
        assert_eq!(shown("[B"), "[B");
    }

    #[test]
    fn packages() {
        for (name, expected) in [
            ("fixture.lab.Hot.fib", "fixture.lab"),
            ("fixture.lab.Hot.fib(I)I", "fixture.lab"),
            ("a.b.C$$Lambda.0x00007f.run", "a.b"),
            ("a.b.C$$Lambda$3/123.run", "a.b"),
            ("java.lang.invoke.LambdaForm$MH.0x00007f.invoke", "java.lang.invoke"),
            ("a.b.C.<init>", "a.b"),
            ("Main.main", UNNAMED),
            ("Dump$$Lambda.0x00007f.run", UNNAMED),
            ("Thread::call_run", NATIVE),
            ("do_syscall_64", NATIVE),
            ("finish_task_switch.isra.0", NATIVE),
            ("libjvm.so", NATIVE),
            ("new_type_array Runtime1 stub", NATIVE),
            ("[main tid=7]", THREAD),
            ("", NATIVE),
        ] {
            assert_eq!(package(name), expected, "{name}");
        }
    }

    /// The ledger's W-029: both spellings hit.
    #[test]
    fn patterns_know_both_separators_and_end_at_a_part() {
        for written in ["io/evitadb", "io.evitadb", "io/evitadb/", "io.evitadb."] {
            let pattern = Pattern::new(written);
            assert!(pattern.matches("io.evitadb.core.Catalog.open"));
            assert!(pattern.matches("io/evitadb/core/Catalog.open"));
            assert!(!pattern.matches("io.evitadbx.Catalog.open"));
            assert!(!pattern.matches("x.io.evitadb.Catalog.open"));
        }
        assert!(
            Pattern::new("a.B").matches("a.B$C.m") && Pattern::new("a.B.m").matches("a.B.m:14")
        );
        assert!(!Pattern::new("").matches("a") && !Pattern::new(".").matches("a"));
    }
}
