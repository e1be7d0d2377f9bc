"""What the pages say: rules, labels, progress, data, export. A browser tests how they feel."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from api_clients import ANN, BOB, Client, begin, make_app, teach, three_people, write_tables
from tellapart.sessions import Session
from tellapart.web import People, Person
from tellapart.web.config import AppState, PageOptions


@pytest.fixture
def ann(tmp_path: Path) -> Iterator[Client]:
    with Client(make_app(write_tables(tmp_path)), ANN) as client:
        begin(client, learner="AutoDFF")
        yield client


def rows(page: str) -> list[list[str]]:
    """The cells of every row of the tables in a page, without marks; how a table was read is
    another matter."""
    page = page.partition('id="reading">')[0]
    found = re.findall(r"<tr[ >].*?</tr>", page, flags=re.DOTALL)
    plain = [[re.sub(r"<[^>]*>", "", cell) for cell in row.split("<td")[1:]] for row in found]
    return [[cell.partition(">")[2].strip() for cell in row] for row in plain]


def page_of(page: str) -> int:
    """How many answers are listed."""
    return len([row for row in rows(page) if row])


def say(client: Client, label: str, feature: str | None = None) -> None:
    given = client.next()
    said = {"answer": "wrong", "label": label}
    if given["guess"] == label:
        said = {"answer": "right"}
    elif feature is not None:
        said["feature"] = feature
    client.answer(given=given["id"], **said)


def test_rules_are_judged_by_all_answers(ann: Client) -> None:
    """Also by those that came before the rule last changed."""
    teach(ann)  # bear: mammal; duck: bird, for it has feathers
    say(ann, "fish", "legs = 0")
    say(ann, "mammal")
    rules = {
        rule["label"]: (rule["items"], rule["right"], rule["wrong"])
        for rule in ann.call("GET", "/api/sessions/zoo/rules?counts=true")["rules"]
    }
    assert rules == {"bird": (2, 1, 0), "fish": (1, 1, 0), "mammal": (2, 2, 0)}
    same = ann.call("GET", "/api/sessions/zoo/rules?counts=false")["rules"]
    assert sum(rule["right"] for rule in same) == 4
    ann.post(
        "/s/zoo/rules",
        data={"do": "edit", "example": "bass", "condition": "legs = 4", "label": "fish"},
    )
    page = ann.get("/s/zoo/rules").text
    assert "0 rows that rule" not in page
    assert page.count("which you called") == 3  # two of this rule, and the bass of the rest


def test_a_label_that_no_rule_predicts_is_named(ann: Client) -> None:
    teach(ann)
    assert "has no rule yet" not in ann.get("/s/zoo/rules").text
    ann.post("/s/zoo/rules", data={"do": "drop", "example": "duck"})
    assert "bird has no rule yet: it was said once." in ann.get("/s/zoo/rules").text
    for _ in range(2):
        ann.answer(given=ann.next()["id"], answer="wrong", label="fish")
    page = ann.get("/s/zoo/rules").text
    assert "mammal has no rule yet: it was said once." in page
    assert "bird has no rule yet: it was said once." in page


def test_unsure_rows_are_left_for_a_person(ann: Client) -> None:
    """The choice is one for the rules, the data, exports, predictions and the model file."""
    teach(ann)
    path = "/api/sessions/zoo/export?to=sql"
    assert "'bird'" in ann.get(path).text
    page = ann.get("/s/zoo/export").text
    assert "Leave a row empty" not in page  # that would be all of them
    assert "Do so everywhere" in ann.get("/s/zoo/export?unsure=null").text
    assert (
        ann.post("/s/zoo/settings", data={"unsure": "null", "back": "/export"})
        .headers["location"]
        .endswith("/export")
    )
    assert "\nNULL\n-- The model" in ann.get(path).text
    assert "'bird'" in ann.get(f"{path}&unsure=label").text
    assert "5 rows are left empty, where no rule is sure" in ann.get("/s/zoo/export").text
    assert "NULL" in ann.get("/s/zoo/export?to=sql&dialect=duckdb").text
    assert {row[1] for row in rows(ann.get("/s/zoo/data").text) if row} == {"unknown"}
    assert "bird" not in ann.get("/api/sessions/zoo/predictions").text
    ann.call("PATCH", "/api/sessions/zoo", json={"error": 1.0})
    assert "'bird'" in ann.get(path).text
    ann.call("PATCH", "/api/sessions/zoo", 422, json={"unsure": "maybe"})


def test_data_is_filtered_and_sorted(ann: Client) -> None:
    teach(ann)
    ann.post(
        "/s/zoo/rules",
        data={"do": "edit", "example": "duck", "condition": "legs = 2", "label": "fowl"},
    )

    def names(query: str) -> list[str]:
        found = rows(ann.get(f"/s/zoo/data?{query}").text)
        return [row[0] for row in found if row]

    assert names("") == ["bear", "duck", "bass", "lion", "crow"]
    assert names("sort=item") == ["bass", "bear", "crow", "duck", "lion"]
    assert names("sort=-legs")[0] in ("bear", "lion")
    assert names("sort=legs")[0] == "bass"
    assert names("sort=no such column") == names("")
    assert names("taught=yes") == ["bear", "duck"]
    assert names("taught=no") == ["bass", "lion", "crow"]
    assert names("taught=differs") == ["duck"]
    assert names("rule=1") == ["duck", "crow"]
    assert names("label=mammal&taught=no") == ["bass", "lion"]
    assert names("q=legs = 4") == ["bear", "lion"]
    assert names("start=3") == ["lion", "crow"]
    page = ann.get("/s/zoo/data").text
    assert 'href="/s/zoo/repair/duck?from=data"' in page
    assert "/repair/crow" not in page  # there is no answer to repair
    assert page.count("against the rules:") == 1


@pytest.mark.parametrize(
    "came_from",
    ["data?q=legs+%3E+1&taught=yes&sort=-legs", "answers?q=du&mistakes=1", "answers?q=a+%26+b"],
)
def test_a_repair_leads_back_to_the_filtered_page(ann: Client, came_from: str) -> None:
    teach(ann)
    links = re.findall(r'href="([^"]*/repair/[^"]*)"', ann.get(f"/s/zoo/{came_from}").text)
    if "%26" in came_from:  # nothing fits, so nothing can be repaired there
        assert not links
        links = [f"/s/zoo/repair/duck?{urlencode({'from': came_from})}"]
    view = html.unescape(ann.get(html.unescape(links[0])).text)
    assert f'href="/s/zoo/{came_from}" data-key="escape"' in view
    (again,) = set(re.findall(r'name="from" value="([^"]*)"', view))
    assert again == came_from
    event = re.findall(r'name="event" value="([^"]*)"', view)[0]
    sent = {"event": event, "from": again}
    saved = ann.post("/s/zoo/repair", data={**sent, "label": "mammal"})
    answers = came_from.startswith("answers")
    changed, kept = (f"&changed={event}", f"&kept={event}") if answers else ("", "")
    location = re.sub(r"&moved=\d+", "", saved.headers["location"])
    assert location == f"/s/zoo/{came_from}{changed}&again=0"
    done = ann.post("/s/zoo/repair", data={**sent, "do": "keep"})
    assert done.headers["location"] == f"/s/zoo/{came_from}{kept}"


def test_an_odd_one_that_is_right_is_not_listed_again_until_that_is_undone(tmp_path: Path) -> None:
    folder = write_tables(tmp_path)
    birds = ["name,wings,legs"] + [f"bird {n},true,2" for n in range(12)]
    dogs = [f"dog {n},false,4" for n in range(12)]
    (folder / "tables" / "pets.csv").write_text("\n".join(birds + dogs) + "\n")
    with Client(make_app(folder), ANN) as ann:
        begin(ann, table="pets.csv", id="name", learner="AutoDFF")
        for _ in range(24):
            given = ann.next()
            name = given["item"]["id"]
            label = "dog" if name in ("bird 7", "bird 9") else name.split()[0]
            said = {"answer": "right"}
            if label != given["guess"]:
                said = {"answer": "wrong", "label": label}
            ann.answer(given=given["id"], **said)

        def odd() -> set[str]:
            listed = ann.call("GET", "/api/sessions/zoo/odd")["odd"]
            page = ann.get("/s/zoo/answers?tab=odd").text
            assert all(f"/repair/{quote(one['item']['id'])}" in page for one in listed)
            assert page.count("/repair/") == len(listed)
            return {one["item"]["id"] for one in listed}

        def post(event: str, what: str) -> str:
            sent = {"event": event, "do": what, "from": "answers?tab=odd"}
            return ann.get(ann.post("/s/zoo/repair", data=sent).headers["location"]).text

        assert {"bird 7", "bird 9"} <= odd()
        answers = ann.call("GET", "/api/sessions/zoo/history")["answers"]
        by_name = {one["item"]["id"]: one for one in answers}
        seven, nine = by_name["bird 7"], by_name["bird 9"]
        page = post(seven["event"], "keep")
        assert "bird 7 stays dog; it is not listed again." in page
        assert odd() & {"bird 7", "bird 9"} == {"bird 9"}
        assert ", confirmed" in ann.get("/s/zoo/answers?q=bird+7").text
        assert "Undone: bird 7 is dog again." in post(seven["event"], "unkeep")
        assert odd() >= {"bird 7", "bird 9"}
        sent = {"event": seven["event"], "do": "unkeep", "from": "answers?tab=odd"}
        assert ann.post("/s/zoo/repair", data=sent).status_code == 422
        # over the API: the same answer once more
        same = {"event": nine["event"], "answer": nine["answer"]}
        if nine["answer"] == "wrong":
            same |= {"label": nine["label"]}
        ann.call("POST", "/api/sessions/zoo/change", json=same)
        assert odd() & {"bird 7", "bird 9"} == {"bird 7"}


def test_only_what_is_contradicted_is_odd(tmp_path: Path) -> None:
    folder = write_tables(tmp_path)
    rows = [f"bird {n},true" for n in range(9)] + [f"dog {n},false" for n in range(9)]
    (folder / "tables" / "pets.csv").write_text("\n".join(["name,wings", *rows]) + "\n")
    with Client(make_app(folder), ANN) as ann:
        begin(ann, table="pets.csv", id="name", learner="AutoDFF")
        assert "Nothing is odd" in ann.get("/s/zoo/answers?tab=odd").text
        for _ in range(18):
            given = ann.next()
            label = "dog" if given["item"]["id"] == "bird 7" else given["item"]["id"].split()[0]
            said = {"answer": "wrong", "label": label}
            ann.answer(
                given=given["id"], **({"answer": "right"} if label == given["guess"] else said)
            )
        asked = ann.call("GET", "/api/sessions/zoo/odd?everything=true&limit=5")
        assert len(asked["odd"]) == 5
        assert asked["by_teacher"] == {"Ann": 1}
        listed = ann.call("GET", "/api/sessions/zoo/odd?everything=true")["odd"]
        assert [one["item"]["id"] for one in listed if one["score"] > 0] == ["bird 7"]
        assert len({one["item"]["id"] for one in listed}) == 18
        page = ann.get("/s/zoo/answers?tab=odd").text
        assert page.count("/repair/") == 1
        assert "1 answer looks odd" in page
        assert "1 odd</small>" in page
        (one,) = (one for one in listed if one["score"] > 0)
        page = html.unescape(page)
        assert one["why"].partition(", but ")[2][1:] in page
        assert "Yes, change it to bird" in page
        assert "stays dog" in page
        sent = {"event": one["event"], "from": "answers?tab=odd", "do": "change", "label": "bird"}
        done = ann.post("/s/zoo/repair", data=sent)
        page = ann.get(done.headers["location"]).text
        assert "Changed: bird 7 is bird now." in page
        assert "Nothing is odd" in page


@pytest.mark.parametrize("came_from", ["//elsewhere", "export", "", "teach/../data"])
def test_a_repair_leads_to_no_other_page(ann: Client, came_from: str) -> None:
    teach(ann)
    event = ann.call("GET", "/api/sessions/zoo/history")["answers"][0]["event"]
    sent = {"event": event, "from": came_from, "label": "fish"}
    assert ann.post("/s/zoo/repair", data=sent).headers["location"] == "/s/zoo/teach?again=0"


def test_items_that_are_named_by_dates(tmp_path: Path) -> None:
    """Repairs, rules, sweeps and tags find them again."""
    folder = write_tables(tmp_path)
    days = ["day,rain"] + [f"2015-04-{day:02},{9 if day % 2 else 0}" for day in range(1, 9)]
    (folder / "tables" / "days.csv").write_text("\n".join(days) + "\n")
    with Client(make_app(folder), ANN) as ann:
        begin(ann, table="days.csv", id="day")
        for label, feature in (("wet", None), ("dry", "rain < 5")):
            said = {"answer": "wrong", "label": label, "feature": feature}
            ann.answer(given=ann.next()["id"], **said)
        assert '/sweep?item=2015-04-03"' in ann.get("/s/zoo/teach").text
        day = "2015-04-02"
        links = [
            html.unescape(link)
            for page in ("rules", "data", "answers")
            for link in re.findall(r'href="([^"]*/repair/[^"]*)"', ann.get(f"/s/zoo/{page}").text)
        ]
        assert len(links) >= 4
        assert {ann.get(link).status_code for link in [*links, f"/s/zoo/sweep?item={day}"]} == {200}
        rules = html.unescape(ann.get("/s/zoo/rules").text)
        assert f'name="example" value="{day}"' in rules
        sent = {"do": "edit", "example": day, "condition": "rain < 4", "label": "dry"}
        assert ann.post("/s/zoo/rules", data=sent).status_code == 303


def test_a_page_with_fewer_rows_than_before_shows_its_last_rows(ann: Client) -> None:
    teach(ann)
    assert [row[0] for row in rows(ann.get("/s/zoo/data?taught=yes&start=50").text) if row] == [
        "bear",
        "duck",
    ]
    assert page_of(page := ann.get("/s/zoo/answers?start=50").text) == 2
    assert "No answer fits" not in page


def test_reasons_of_a_disagreement_are_read_as_words(tmp_path: Path) -> None:
    app = make_app(write_tables(tmp_path))
    with Client(app, BOB) as bob:
        ann = Client(app, ANN)
        begin(ann, overlap=1.0)
        for client, label in ((ann, "bird"), (bob, "fowl")):
            client.answer(given=client.next()["id"], answer="wrong", label="mammal")
            said = {"answer": "wrong", "label": label, "feature": "note ILIKE '%quack%'"}
            client.answer(given=client.next()["id"], **said)
        page = html.unescape(ann.get("/s/zoo/answers?tab=disputed").text)
        assert page.count('note contains <b>"quack"</b>') == 2
        assert "ILIKE" not in page


def test_agreement_is_said_in_plain_words(tmp_path: Path) -> None:
    app = make_app(write_tables(tmp_path))
    with Client(app, BOB) as bob:
        ann = Client(app, ANN)
        begin(ann, overlap=1.0)
        teach(ann)
        teach(bob)
        page = html.unescape(ann.get("/s/zoo/answers?tab=disputed").text)
        assert (
            "2 rows have several answers; 100 % of pairs agree on the label (Krippendorff’s alpha"
            " 1.00). Where two say the same label and both give a reason, the reason is the same in"
            " 1 of 1 pair."
        ) in page


def test_progress_says_what_is_known(ann: Client) -> None:
    assert "Nothing has been taught yet." in ann.get("/s/zoo/progress").text
    teach(ann)
    page = ann.get("/s/zoo/progress").text
    assert "You have taught 2 of 5 rows. It takes some rows drawn at random" in page
    assert "Nothing is known yet. Rows drawn at random" in page
    found = [row[:4] for row in rows(page) if len(row) == 6 and row[0] != "Ann"]
    assert found == [["mammal", "1", "0", "1"], ["bird", "1", "1", "0"]]
    for _ in range(3):
        say(ann, "mammal")
    page = ann.get("/s/zoo/progress").text
    assert "You have taught 5 of 5 rows." in page
    assert page.count('class="t"') >= 5


def test_the_sentence_and_the_squares_have_the_same_numbers() -> None:
    from tellapart.web.pages.progress import squares

    drawn = squares(60, 340, 52)
    assert [drawn.count(f'class="{kind}"') for kind in "tsu"] == [60, 288, 52]
    assert "at least 288 are right" in drawn
    assert squares(60, 340, None).count('class="n"') == 340
    assert squares(1000, 9000, 250, each=25).count("<rect") == 400


def test_said_is_the_same_everywhere_without_second_opinions(tmp_path: Path) -> None:
    app = make_app(write_tables(tmp_path))
    with Client(app, ANN) as ann:
        begin(ann, overlap=1.0)
        teach(ann)
        bob = Client(app, BOB)
        teach(bob)
        progress, rules = ann.get("/s/zoo/progress").text, ann.get("/s/zoo/rules").text
        tallied = {row[0]: row[1] for row in rows(progress) if row[1:2] == ["1"]}
        assert tallied == {"mammal": "1", "bird": "1"}
        assert "bird" in rules
        done = [row for row in rows(progress) if row[:1] == ["Ann"]]
        assert done == [["Ann", "2", "0", "1", "0", "0"]]  # the first had no guess
        assert "This table has your answers alone" not in progress
        assert "This table has your answers alone" in bob.get("/s/zoo/progress").text
        lines = [line.split(",") for line in ann.get("/s/zoo/answers.csv").text.splitlines()]
        assert lines[0][-1] == "outcome"
        assert sorted((line[6], line[-1]) for line in lines[1:]) == [
            ("Ann", "label"),
            ("Ann", "mistake"),
            ("Bob", "opinion"),
            ("Bob", "opinion"),
        ]


def test_what_is_chosen_is_shown_copied_and_downloaded(ann: Client) -> None:
    teach(ann)
    page = ann.get("/s/zoo/export").text
    ways = set(re.findall(r'href="(/s/zoo/export\?[^"#]*)', page.replace("&amp;", "&")))
    ways |= {f"/s/zoo/export?to=sql&dialect={one}" for one in ("postgres", "sqlite")}
    assert len(ways) == 7  # five languages, two dialects
    for way in ways:
        page = ann.get(way).text
        shown = re.search(r'<pre [^>]*id="text">(.*?)</pre>', page, flags=re.DOTALL)
        link = re.search(r'href="([^"]*)" download>Download</a>', page)
        assert shown
        assert link
        saved = ann.get(link[1].replace("&amp;", "&")).text
        assert html.unescape(shown[1]) == saved, way


def test_who_gets_which_rows_is_said_on_the_page(tmp_path: Path) -> None:
    app = make_app(write_tables(tmp_path))
    with Client(app, ANN) as ann:
        begin(ann)
        sent = {
            "teacher": "Bob",
            "where": "legs = 0",
            "back": "/answers?tab=disputed",
        }
        assert ann.post("/s/zoo/settings", data=sent).headers["location"].endswith("disputed")
        assert 'value="legs = 0"' in ann.get("/s/zoo/answers?tab=disputed").text
        assert Client(app, BOB).next()["item"]["id"] == "bass"
        assert "Who gets which rows" not in Client(app, BOB).get("/s/zoo/answers?tab=disputed").text
        assert ann.post("/s/zoo/settings", data={**sent, "where": "legs ="}).status_code == 422


def test_rows_are_assigned_to_people_only(tmp_path: Path) -> None:
    """Rows that a column or a model had would be asked of nobody."""
    app = make_app(write_tables(tmp_path))
    zoo = tmp_path / "tables" / "zoo.csv"
    pool = app.state.tellapart.pool
    with Session.new(pool.store, "zoo", zoo, reading={"id": "name"}) as session:
        session.start_from("column kind", {"bear": "mammal"})
        session.join("robot", model="m-1")
    with Client(app, ANN) as ann:
        page = ann.get("/s/zoo/answers?tab=disputed").text
        named = re.findall(r'name="teacher" value="([^"]*)"', page)
        assert named == ["Ann", "Bob"]
        sent = {"teacher": "Bob", "where": "legs >= 0", "back": "/answers?tab=disputed"}
        assert ann.post("/s/zoo/settings", data=sent).status_code == 303
        page = ann.get("/s/zoo/teach").text
        assert "That was the last row for you" in page


def test_disagreements_are_for_teams(tmp_path: Path) -> None:
    app = make_app(write_tables(tmp_path))
    state: AppState = app.state.tellapart
    state.people = People(state.people.all[:1])
    with Client(app, ANN) as ann:
        begin(ann)
        page = ann.get("/s/zoo/answers?tab=disputed").text
        assert "This is for several people" in page
        assert "Who gets which rows" not in page


def test_practice_is_compared_with_the_hidden_column(tmp_path: Path) -> None:
    app = make_app(write_tables(tmp_path))
    table = tmp_path / "tables" / "zoo.csv"
    with Client(app, ANN) as ann:
        begin(ann)
        begin(ann, name="other")
        app.state.tellapart.pages = PageOptions(known={"zoo": (table, "note")})
        bob = Client(app, BOB)
        teach(bob)
        assert "0 of 2 labels are those of the table" in bob.get("/s/zoo/answers?tab=odd").text
        assert "of 2 labels" not in bob.get("/s/other/answers?tab=odd").text
        assert "of 2 labels" in ann.get("/s/zoo/answers?tab=odd").text


def test_one_teacher_alone_sees_no_team(tmp_path: Path) -> None:
    app = make_app(write_tables(tmp_path))
    with Client(app, ANN) as ann:
        begin(ann)
        teach(ann)
        assert "tab=disputed" in ann.get("/s/zoo/answers").text
        app.state.tellapart.people = People([Person("Ann", ANN, owner=True)])
        for path in ("rules", "progress", "answers", "data", "teach"):
            assert "disputed" not in ann.get(f"/s/zoo/{path}").text, path
        assert '<th scope="col">By</th>' not in ann.get("/s/zoo/answers").text


def test_a_label_that_the_guess_has_come_to_agree_with_is_right(tmp_path: Path) -> None:
    app = make_app(write_tables(tmp_path))
    with Client(app, ANN) as ann:
        begin(ann, order="file")
        ann.answer(given=ann.next()["id"], answer="wrong", label="mammal")
        bob = Client(app, BOB)
        assert bob.post("/s/zoo/search", data={"text": "black"}).status_code == 200
        given = bob.next()
        assert given["guess"] == "mammal"
        ann.answer(given=ann.next()["id"], answer="wrong", label="bird", feature="feathers")
        sent = {"given": given["id"], "label": "bird"}  # now the guess is a bird, like the duck
        card = bob.get("/s/zoo/label", params=sent, headers={"X-Fragment": "1"}).text
        assert "Why is" not in card
        said = bob.call("GET", "/api/sessions/zoo/history")["answers"][0]
        assert (said["item"]["name"], said["answer"]) == ("crow", "right")
        # a lease that ended: nothing is said of what comes instead
        card = bob.get("/s/zoo/label", params=sent, headers={"X-Fragment": "1"}).text
        assert "Somebody else has that row now." in card
        assert len(bob.call("GET", "/api/sessions/zoo/history")["answers"]) == 1


# -- home, and errors as pages

HTML = {"accept": "text/html,application/xhtml+xml"}


def test_home_has_a_card_for_every_session(tmp_path: Path) -> None:
    app = make_app(write_tables(tmp_path))
    with Client(app, ANN) as ann:
        assert "Drop a table here" in ann.get("/").text
        begin(ann, overlap=1.0)
        assert ann.get("/").status_code == 303  # the only one, and the only table
        teach(ann)
        bob = Client(app, BOB)
        assert bob.get("/").status_code == 303
        bob.answer(given=bob.next()["id"], answer="wrong", label="beast")
        page = ann.get("/?all=1").text
        assert "2 of 5 rows taught" in page
        assert "Bob · zoo.csv" in page
        assert '<a href="/s/zoo/answers?tab=disputed">1 disagreement to settle</a>' in page.lower()
        assert "1 disagreement to look at</a>" in bob.get("/?all=1").text.lower()
        ann.call("POST", "/api/sessions/zoo/close")
        assert "3 of 5 rows taught" in ann.get("/?all=1").text  # as many answers as the log has
        assert "Drop a table" not in bob.get("/?all=1").text
        for path in ("teach", "rules", "help", "export"):
            assert 'href="/?all=1"' in ann.get(f"/s/zoo/{path}").text, path


@pytest.mark.slow
def test_a_table_is_added(tmp_path: Path) -> None:
    app = make_app(write_tables(tmp_path), max_upload=1000)
    folder = tmp_path / "tables"
    new = b"pet,legs\nrex,4\ntweety,2\n"
    with Client(app, ANN) as ann:
        done = ann.post("/upload?name=pets.csv", content=new)
        assert (done.status_code, done.headers["location"]) == (303, "/read?table=pets.csv")
        assert (folder / "pets.csv").read_bytes() == new
        shown = ann.get("/read?table=pets.csv").text  # before a session begins
        assert "pets.csv: 2 rows, 2 columns" in shown
        assert "pet, such as rex" in shown
        assert not ann.call("GET", "/api/sessions")["sessions"]
        made = ann.post("/", data={"table": "pets.csv", "column": "pet"})
        assert made.headers["location"] == "/s/pets/teach"
        assert "rex" in ann.get("/s/pets/data").text  # the column that names the items was found
        kept = folder / "pets.csv"
        assert kept.stat().st_mode & 0o777 == 0o600  # as private as the answers about it
        again = ann.post("/upload?name=pets.csv", content=b"other,legs\n1,2\n")
        assert again.status_code == 409
        assert "there is a table 'pets.csv' already" in again.json()["error"]
        assert (folder / "pets.csv").read_bytes() == new
        for name in (
            "../secret.csv",
            "a/b.csv",
            ".hidden.csv",
            "notes.md",
            "zoo",
            "..",
            "x\n.csv",
            " .csv",
        ):
            assert ann.post("/upload", params={"name": name}, content=new).status_code == 422, name
        for content in (b"", b"a,b\n", b"\x00\xff\x00", b"a,b\n1\n"):
            assert ann.post("/upload?name=bad.csv", content=content).status_code == 422, content
        assert ann.post("/upload?name=big.csv", content=b"a\n" * 600).status_code == 413
        assert Client(app, BOB).post("/upload?name=b.csv", content=new).status_code == 403
        assert sorted(path.name for path in folder.iterdir()) == ["pets.csv", "zoo.csv"]


@pytest.mark.slow
def test_any_kind_of_table_is_added(tmp_path: Path) -> None:
    """Also those that are not listed as tables of a folder."""
    with Client(make_app(write_tables(tmp_path)), ANN) as ann:
        for name, content in {
            "good.json": b'[{"pet": "rex", "legs": 4}, {"pet": "tweety", "legs": 2}]',
            "notes.txt": b"pet,legs\nrex,4\ntweety,2\n",
        }.items():
            done = ann.post("/upload", params={"name": name}, content=content)
            assert (done.status_code, done.headers["location"]) == (303, f"/read?table={name}")
            assert f"{name}: 2 rows, 2 columns" in ann.get(done.headers["location"]).text


PETS = b"pet,legs,hair,kind\n" + b"".join(
    b"p%d,%d,%s,%s\n" % (n, 2 + n % 2 * 2, b"yn"[n % 2 : n % 2 + 1], b"fed" if n % 2 else b"wild")
    for n in range(60)
)


def test_labels_of_a_column_are_first_answers(tmp_path: Path) -> None:
    """They are taken a few at a time, so that a bar can move; then it is said what came of them."""
    with Client(make_app(write_tables(tmp_path)), ANN) as ann:
        shown = ann.get(ann.post("/upload?name=pets.csv", content=PETS).headers["location"]).text
        assert '<option value="start:kind">kind: wild, fed</option>' in shown
        assert "start:pet" not in shown  # as many labels as rows are none
        sent = {"table": "pets.csv", "column": "pet", "labels": "start:kind"}
        place = ann.post("/", data=sent).headers["location"]
        assert place == "/s/pets/take?column=kind"
        assert "Taking 60 labels from kind as first answers: 0 %" in ann.get(place).text
        for _ in range(60):
            done = re.search(r'name="done" value="(\d+)"', shown)
            form = {"column": "kind", "done": done[1] if done else "0"}
            shown = ann.post("/s/pets/take", data=form).text
            if "learnt" in shown:
                break
        assert "60 labels of kind are first answers: 1 rule learnt; no row contradicts it." in shown
        answers = ann.call("GET", "/api/sessions/pets/history")["answers"]
        assert len(answers) == 60
        assert {one["teacher"] for one in answers} == {"column kind"}
        assert ann.get("/s/pets/take?column=legs", headers=HTML).status_code == 422
        assert Client(ann.app, BOB).get(place).status_code == 403


def test_labels_of_a_column_are_compared_with(tmp_path: Path) -> None:
    """Also after the server was started anew: the log knows which column was hidden."""
    with Client(make_app(write_tables(tmp_path)), ANN) as ann:
        ann.post("/upload?name=pets.csv", content=PETS)
        sent = {"table": "pets.csv", "column": "pet", "labels": "hide:kind"}
        assert ann.post("/", data=sent).headers["location"] == "/s/pets/teach"
        given = ann.call("POST", "/api/sessions/pets/next")["given"]
        body = {"given": given["id"], "answer": "wrong", "label": "tame"}
        ann.call("POST", "/api/sessions/pets/answers", json=body)
        odd = ann.get("/s/pets/answers?tab=odd").text
        assert "0 of 1 labels are those of the table." in odd
        assert "you said tame, the column kind says" in odd


@pytest.mark.slow
def test_what_is_wrong_with_a_table_is_said_for_who_has_only_the_page(tmp_path: Path) -> None:
    with Client(make_app(write_tables(tmp_path), max_upload=1000), ANN) as ann:

        def refused(name: str, content: bytes) -> str:
            answer = ann.post("/upload", params={"name": name}, content=content)
            assert answer.status_code in (413, 422)
            return str(answer.json()["error"])

        twice = refused("twice.csv", b"a,a\n1,2\n")
        assert " header=0" not in twice.replace("--read header=0", "")
        assert "Rename one of them" in twice
        assert (
            "Mend the file, and add it again. Options such as --read header=0 are for the" in twice
        )
        assert "tellapart teach twice.csv --read header=0" in twice
        western = refused("a b.csv", "name,x\ncaf\u00e9,1\n".encode("cp1252"))
        assert "Save the file as UTF-8" in western
        assert "tellapart teach 'a b.csv' --read encoding=cp1252" in western
        assert refused("x.jsonl", b"{nope").endswith(". Mend the file, and add it again")
        assert "begins with no point" in refused(".hidden.csv", b"a\n1\n")
        assert "ends in .csv" in refused("notes.md", b"a\n1\n")
        assert refused("big.csv", b"a\n" * 600) == (
            "too large: at most 0.001 MB can be sent at once. Put the table into the folder of this"
            " server, and begin with it there"
        )


@pytest.mark.slow
def test_half_a_table_is_not_kept(small_disk: Path) -> None:
    app = make_app(write_tables(small_disk))
    with Client(app, ANN) as ann:
        full = ann.post("/upload?name=pets.csv", content=b"pet,legs\n" + b"rex,4\n" * 500_000)
        assert full.status_code == 409
        assert "pets.csv cannot be kept: No space left" in full.json()["error"]
        assert not (small_disk / "tables" / "pets.csv").exists()


def test_errors_are_pages_for_who_looks_at_pages(ann: Client) -> None:
    for path, status, words in (
        ("/s/nowhere/teach", 404, "There is no session &#39;nowhere&#39;."),
        ("/no/such/page", 404, "There is nothing at this address."),
        ("/s/zoo/export?to=fortran", 422, "got &#39;fortran&#39;"),
    ):
        page = ann.get(path, headers=HTML)
        assert page.status_code == status
        assert page.headers["content-type"].startswith("text/html")
        assert words in page.text
        assert 'href="/?all=1"' in page.text
        assert ann.get(path).json()["status"] == status  # a program gets JSON
        assert ann.get(path, headers={**HTML, "X-Fragment": "1"}).json()["ok"] is False
    wrong = ann.get("/s/zoo/data?taught=sometimes&q=legs", headers=HTML)
    assert wrong.status_code == 422
    assert "This address asks for something that there is not." in wrong.text
    assert "Input should be" not in wrong.text
    assert ann.get("/api/sessions/nowhere", headers=HTML).json()["status"] == 404
    stranger = Client(ann.app, None).get("/", headers=HTML)
    assert stranger.status_code == 401
    assert "Not signed in" in stranger.text
    assert "All tables" not in stranger.text


def test_a_sweep_takes_what_is_not_marked_once(ann: Client) -> None:
    teach(ann)
    page = ann.get("/s/zoo/sweep?label=mammal").text
    items = json.loads(html.unescape(re.findall(r'name="items" value="([^"]*)"', page)[0]))
    assert len(items) >= 2
    form = {"label": "mammal", "items": json.dumps(items), "wrong1": "1", "id": "once"}
    for _ in range(2):  # a second click, or a retry
        assert ann.post("/s/zoo/sweep", data=form).status_code == 303
        answers = ann.call("GET", "/api/sessions/zoo/history")["answers"]
        swept = [one["item"]["id"] for one in answers if one["answer"] == "right"]
        assert sorted(swept) == sorted(items[:1] + items[2:])
    assert ann.next()["item"]["id"] == items[1]
    assert "You marked it as wrong: what is it?" in ann.get("/s/zoo/teach").text


def test_a_sweep_is_taken_back_at_once(ann: Client) -> None:
    teach(ann)
    page = ann.get("/s/zoo/sweep?label=mammal").text
    items = html.unescape(re.findall(r'name="items" value="([^"]*)"', page)[0])
    form = {"label": "mammal", "items": items, "id": "swept"}
    address = ann.post("/s/zoo/sweep", data=form).headers["location"]
    assert '<input type="hidden" name="from" value="sweep">' in ann.get(address).text
    undo = {"do": "undo", "from": "sweep", "label": "mammal", "id": "u"}
    count = len(json.loads(items))
    for _ in range(2):  # a second click, or a retry
        done = ann.post("/s/zoo/turn", data=undo).headers["location"]
        assert f"Undone: {count} answers given at once." in ann.get(done).text
        after = ann.call("GET", "/api/sessions/zoo/history")["answers"]
        assert sum(one["undone"] for one in after) == count


@pytest.mark.parametrize("way", ["undo", "page"])
def test_that_a_disagreement_is_settled_can_be_taken_back(tmp_path: Path, way: str) -> None:
    with three_people(tmp_path) as people:
        ann, carol = people["Ann"], people["Carol"]
        while (given := carol.next())["item"]["id"] != "duck":
            carol.answer(given=given["id"], answer="unsure")
        carol.answer(given=given["id"], answer="wrong", label="fish", feature="legs = 2")

        def waiting() -> int:
            return ann.get("/s/zoo/answers?tab=disputed").text.count('value="settle"') // 2

        def labels() -> set[str]:
            answers = ann.call("GET", "/api/sessions/zoo/history?item=duck")["answers"]
            return {one["label"] for one in answers}

        assert (waiting(), labels()) == (1, {"bird", "fish"})
        model = ann.get("/api/sessions/zoo/export?to=text").text
        sent = {"event": "bob-2", "from": "answers?tab=disputed", "do": "settle", "label": "bird"}
        assert people["Bob"].post("/s/zoo/repair", data=sent).status_code == 403
        assert ann.post("/s/zoo/repair", data=sent).status_code == 303
        assert (waiting(), labels()) == (0, {"bird", "fish"})
        assert ann.get("/api/sessions/zoo/export?to=text").text == model  # its reason, too
        assert "It is not settled" in ann.get("/s/zoo/answers?tab=disputed").text
        if way == "undo":
            ann.call("POST", "/api/sessions/zoo/undo", json={})
        else:
            assert ann.post("/s/zoo/repair", data={**sent, "do": "unkeep"}).status_code == 303
        assert (waiting(), labels()) == (1, {"bird", "fish"})
        ann.call("POST", "/api/sessions/zoo/redo", json={})
        assert waiting() == 0
        ann.call("POST", "/api/sessions/zoo/undo", json={})
        ann.post("/s/zoo/repair", data={**sent, "label": "fish"})
        assert labels() == {"fish"}
        ann.call("POST", "/api/sessions/zoo/undo", json={})
        assert (waiting(), labels()) == (1, {"bird", "fish"})


def test_items_named_by_their_pictures_are_seen(tmp_path: Path) -> None:
    """On all pages that show items, not only where they are taught."""
    folder = write_tables(tmp_path)
    names = [f"p{number}.png" for number in range(4)]
    lines = ["picture,colour", *(f"{name},red" for name in names)]
    (folder / "tables" / "shapes.csv").write_text("\n".join(lines) + "\n")
    for one in names:
        (folder / "tables" / one).write_bytes(b"\x89PNG")
    with Client(make_app(folder), ANN) as ann:
        begin(ann, table="shapes.csv", id="picture")
        ann.answer(given=ann.next()["id"], answer="wrong", label="circle")
        for path in ("teach", "data", "sweep?label=circle"):
            seen = re.findall(r'<img [^>]*src="/s/zoo/file\?path=', ann.get(f"/s/zoo/{path}").text)
            assert seen, path


def test_a_long_rule_leaves_room_for_its_sweep(ann: Client) -> None:
    teach(ann)
    long = " OR ".join(f"note = 'a long note, number {number}'" for number in range(20))
    sent = {"do": "edit", "example": "duck", "condition": f"feathers OR {long}", "label": "bird"}
    assert ann.post("/s/zoo/rules", data=sent).status_code == 303
    page = ann.get("/s/zoo/sweep?rule=1").text
    assert "Is this row" in page
    assert len(html.unescape(re.findall(r'<p class="lede above">(.*?)</p>', page)[0])) < 2000


def test_of_a_long_rule_the_heaviest_points_are_said(ann: Client) -> None:
    teach(ann)
    terms = [f"{n} * (note = 'a note, number {n}')" for n in range(1, 40)]
    condition = f"60 * feathers + {' + '.join(terms)} >= 50"
    sent = {"do": "edit", "example": "duck", "condition": condition, "label": "bird"}
    assert ann.post("/s/zoo/rules", data=sent).status_code == 303
    page = ann.get("/s/zoo/rules").text
    said = html.unescape(re.sub(r"<[^>]*>", "", page))
    assert "A mix of 40 hints, not yet a rule" in said
    assert "60 for feathers, 39 for note is" in said
    assert "and 34 more)" in said


def test_a_cell_that_is_cut_says_so(tmp_path: Path) -> None:
    folder = write_tables(tmp_path)
    lines = [f"n{number},{'word ' * 100}{number}" for number in range(3)]
    (folder / "tables" / "texts.csv").write_text("\n".join(["name,text", *lines]) + "\n")
    with Client(make_app(folder), ANN) as ann:
        begin(ann, table="texts.csv")
        ann.answer(given=ann.next()["id"], answer="wrong", label="prose")
        for path in ("data", "sweep?label=prose"):
            assert "word…" in ann.get(f"/s/zoo/{path}").text, path


def test_every_label_that_was_said_settles_with_a_key(tmp_path: Path) -> None:
    """Also a tenth one, which has no key of its own; no key stands for two labels."""
    with three_people(tmp_path) as people:
        ann, carol = people["Ann"], people["Carol"]
        for number in range(10):
            ann.call("POST", "/api/sessions/zoo/labels", json={"label": f"label {number}"})
        while (given := carol.next())["item"]["id"] != "duck":
            carol.answer(given=given["id"], answer="unsure")
        carol.answer(given=given["id"], answer="wrong", label="label 9", feature="legs = 2")
        page = ann.get("/s/zoo/answers?tab=disputed").text
        found = re.findall(r'name="label" value="([^"]*)"><button [^>]*data-key="(\d)"', page)
        assert found == [("bird", "1"), ("label 9", "2")]


def test_a_teacher_is_not_sent_to_repair_what_others_answered(ann: Client) -> None:
    teach(ann)
    bob = Client(ann.app, BOB)
    page = bob.get("/s/zoo/rules").text
    assert "feathers" in page  # he sees the rules, and may not change them
    assert "Save the rule" not in page
    assert "/s/zoo/repair/" not in page
    ann.post(
        "/s/zoo/rules",
        data={"do": "edit", "example": "duck", "condition": "legs = 2", "label": "fowl"},
    )
    assert "/s/zoo/repair/" not in bob.get("/s/zoo/rules").text
    page = ann.get("/s/zoo/rules").text
    assert "/s/zoo/repair/duck" in page
    assert "Save the rule" in page


def test_history_says_in_words_what_became_of_an_answer(tmp_path: Path) -> None:
    with three_people(tmp_path) as people:
        carol = people["Carol"]
        carol.answer(given=carol.next()["id"], answer="wrong", label="mammal")
        found = {row[-2] for row in rows(people["Ann"].get("/s/zoo/answers").text) if row}
        assert found == {"the first answer", "guessed mammal", "second opinion"}


def test_a_file_keeps_its_name_in_an_error(ann: Client) -> None:
    page = ann.get("/s/zoo/repair/unicorn", headers={"accept": "text/html"}).text
    assert '<p class="lede">zoo.csv has no item' in html.unescape(page)


def test_who_starts_from_a_column_alone_has_no_team_pages(tmp_path: Path) -> None:
    """The column is no person: its answers are told from one's own, and nobody disagrees."""
    app = make_app(write_tables(tmp_path))
    state: AppState = app.state.tellapart
    state.people = People(state.people.all[:1])
    zoo = tmp_path / "tables" / "zoo.csv"
    with Session.new(state.pool.store, "zoo", zoo, reading={"id": "name"}) as session:
        session.start_from("column kind", {"bear": "mammal"})
    with Client(app, ANN) as ann:
        say(ann, "bird")
        page = ann.get("/s/zoo/answers").text
        assert "column kind" in page
        assert "tab=disputed" not in page


@pytest.mark.slow
def test_the_rules_of_a_large_table_are_shown(tmp_path: Path) -> None:
    """Also rules of several words for one label, which make one rule."""
    shops = {"aldi": "food", "lidl": "food", "rewe": "food", "uber": "trips", "train": "trips"}
    folder = write_tables(tmp_path)
    lines = (f"{shop} {n},{n % 7}" for n, shop in zip(range(70_000), cycle(shops), strict=False))
    (folder / "tables" / "bank.csv").write_text("payee,amount\n" + "\n".join(lines) + "\n")
    with Client(make_app(folder), ANN) as ann:
        body = {"name": "zoo", "table": "bank.csv", "order": "file", "learner": "AutoDFF"}
        ann.call("POST", "/api/sessions", 201, json=body)
        for _ in range(25):
            given = ann.next()
            shop = given["item"]["cells"]["payee"].split()[0]
            said = {"answer": "right"}
            if given["guess"] != shops[shop] or given["asks"] != "answer":
                said = {"answer": "wrong", "label": shops[shop]}
                if given["example"] and shop not in given["example"]["cells"]["payee"]:
                    said["feature"] = f'payee contains "{shop}"'
            ann.answer(given=given["id"], id="a" + given["id"], **said)
        shown = ann.get("/s/zoo/rules")
        assert shown.status_code == 200
        rules = ann.get("/api/sessions/zoo/export?to=text").text
        assert re.search('payee contains "[a-z]+"(, | or )"[a-z]+"', rules), rules
