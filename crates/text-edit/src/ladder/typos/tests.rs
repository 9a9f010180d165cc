//! Tests of requests with typos.

use crate::{
    Next,
    Strategy::Typos,
    testing::{assert_edited, assert_missed},
};

const FILE: &str = "fn total(items: &[Item]) -> u64 {\n    // Adds the prices of all the items.\n    let mut total = 0;\n    for item in items {\n        total += item.price();\n    }\n    total\n}\n";

#[test]
fn a_drifted_line_stays_as_the_file_has_it() {
    let old = FILE.replace("prices of all the items", "prices of all items");
    let new = old.replace("let mut total = 0;", "let mut total = 1;");
    assert_edited(FILE, &old, &new, Typos, &FILE.replace("total = 0;", "total = 1;"));
}

#[test]
fn a_drifted_line_that_the_request_changes_refuses_it() {
    let old = FILE.replace("prices of all the items", "prices of all items");
    assert_missed(FILE, &old, &old.replace("// Adds the prices of all items.", "// Sums up."));
}

#[test]
fn another_middle_between_the_same_lines_is_another_block() {
    let old = FILE.replace("total += item.price();", "log(item);").replace("let mut total = 0;", "open();");
    assert_missed(FILE, &old, &old.replace("open", "close"));
}

#[test]
fn a_number_a_name_or_an_operator_is_no_typo() {
    for (from, to) in [("total = 0", "total = 1"), ("+=", "-="), ("price()", "count()"), ("mut total", "total")] {
        let old = FILE.replacen(from, to, 1);
        assert_missed(FILE, &old, &old.replace("    total\n", "    total + tax\n"));
    }
}

#[test]
fn a_word_that_the_file_has_elsewhere_is_no_typo() {
    let old = FILE.replacen("item.price()", "item.prices()", 1);
    let new = old.replace("    total\n", "    total + 1\n");
    assert_missed(FILE, &old, &new);
}

#[test]
fn a_near_duplicate_refuses_the_match() {
    let filler = "// filler line\n".repeat(20);
    let text = format!("{FILE}{filler}{}", FILE.replace("item.price()", "item.cost()"));
    let old = FILE.replace("prices of all the items", "prices of all items");
    assert_missed(&text, &old, &old.replace("    total\n", "    total + 1\n"));
}

#[test]
fn a_line_that_the_file_has_elsewhere_as_given_is_no_typo() {
    let block = "// Kept by hand.\n// Copyright (C) 2013-2015, A. Author\n\n// See the licence.\n";
    let other = "// Kept by hand.\n// The tables.\n".to_owned() + &block["// Kept by hand.\n".len()..];
    let text = format!("{}{}{other}", block.replace("Author", "Author."), "fn filler() {}\n".repeat(9));
    assert_missed(&text, block, &block.replace("See the", "Read the"));
    let text = text.replace("Author\n", "Other\n");
    assert_edited(&text, block, &block.replace("See the", "Read the"), Typos, &text.replacen("See the", "Read the", 1));
}

#[test]
fn a_reindented_line_with_a_typo_is_refused() {
    let text = "def random(value):\n    return chosen.choice(value)\n\n\nother()\n";
    let new = "    try:\n        return chosen.choice(value)\n    except IndexError:\n        return None\n";
    let diagnosis = assert_missed(text, "    return chosen.choicce(value)\n", new);
    assert!(diagnosis.next != Next::Look, "{diagnosis:?}");
    let text = text.replace("    return", "        return");
    assert_missed(&text, "    return chosen.choicce(value)\n", new);
}

#[test]
fn two_lines_are_too_few_for_a_repeated_typo() {
    assert_missed("alpha beta gamma\ndelta\n", "alpha beta gama\ndelta\n", "alpha beta gama\nomega\n");
}

#[test]
fn a_typo_that_new_text_has_right_is_passed_over() {
    let text = "def f(self):\n    self.conn.close()\n    return total\n";
    assert_edited(
        text,
        "    self.con.close()\n    return total\n",
        "    self.conn.close()\n    return total + 1\n",
        Typos,
        &text.replace("total", "total + 1"),
    );
    assert_edited(
        text,
        "    retrun total\n",
        "    log(total)\n    return total\n",
        Typos,
        &text.replace("    return", "    log(total)\n    return"),
    );
    assert_edited(
        text,
        "\tself.con.close()\n\tretrun total\n",
        "\tself.conn.close()\n\tflush()\n\treturn total\n",
        Typos,
        &text.replace("    return", "    flush()\n    return"),
    );
}

#[test]
fn two_lines_in_one_are_no_typo_of_either() {
    let text = "f(\n    a,\n)\nlimit_now = get(a)\nuse(limit_now)\n";
    assert_missed(text, ") limit_now = get(a)\n", ")\nlog(a)\nlimit_now = get(a)\n");
    assert_missed(
        "f {\n  g {\n    use(limit)\n  }\n}\n",
        "    use(limit)\n  } }\n",
        "    use(limit)\n    go()\n  }\n}\n",
    );
}

#[test]
fn curly_quotes_and_white_space_on_a_line_with_a_typo_are_not_brought_in_elsewhere() {
    let text = "one();\nif ready(\"a\") {\n    return total(\"b\");\n}\n";
    assert_edited(
        text,
        "one();  \nif ready(\"a\") {  \n    retrun total(“b”);  \n}  \n".replace("\"a\"", "“a”").as_str(),
        "one();  \nlog(“x”);  \nif ready(“a”) {  \n    retrun total(“b”);  \n}  \n",
        Typos,
        "one();\nlog(\"x\");\nif ready(\"a\") {\n    return total(\"b\");\n}\n",
    );
    let text = "one();\ntwo(1);\nreturn total(\"b\");\n}\n";
    assert_edited(
        text,
        "one();\ntwo(1);\nretrun total(“b”);\n}\n",
        "one();\ntwo(“x”);\nretrun total(“b”);\n}\n",
        Typos,
        "one();\ntwo(\"x\");\nreturn total(\"b\");\n}\n",
    );
}

#[test]
fn a_difference_that_new_text_has_right_but_is_no_typo_is_refused() {
    for (old, new) in
        [("limit = 30\nretry(1)\n", "limit = 60\nretry(2)\n"), ("log(a)\nretry(1)\n", "lag(a)\nretry(2)\n")]
    {
        assert_missed("limit = 60\nretry(1)\nlag(a)\nretry(1)\nlog(b)\n", old, new);
    }
}

#[test]
fn a_typo_at_two_places_is_refused() {
    let text = "one();\nreturn total;\n\n  one();\n  return total;\n";
    assert_missed(text, "one();\nretrun total;\n", "one();\ntwo();\nreturn total;\n");
}

#[test]
fn a_request_without_its_typo_that_changes_nothing_is_made_already() {
    assert!(
        assert_missed("one(1);\nreturn total;\n", "one(1);\nretrun total;\n", "one(1);\nreturn total;\n").next
            == Next::Look
    );
}
