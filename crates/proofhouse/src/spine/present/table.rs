//! The heads of the page's tables: what each column is called and how its cells stand.

use super::html::Html;

/// A column of a table.
#[derive(Clone, Copy)]
pub(crate) enum Column {
    /// Names and words.
    Text(&'static str),
    /// Numbers, aligned at their right.
    Number(&'static str),
    /// Counts of a part of a stacked bar: the part's class and its title.
    Part(&'static str, &'static str),
    /// A chart under its scale.
    Scale(fn(&mut Html)),
    /// A chart under a title.
    Chart(&'static str),
}

/// Opens a table with its head. The caption is for those who hear the page; who sees it has the section's heading.
pub(crate) fn open(html: &mut Html, class: &'static str, caption: &'static str, columns: &[Column]) {
    html.put(
        r#"<div class="scroll"><table class="{}"><caption class="quiet">{}</caption><thead><tr>"#,
        &[&class, &caption],
    );
    for column in columns {
        match column {
            Column::Text(title) => html.put(r#"<th scope="col">{}</th>"#, &[title]),
            Column::Number(title) => html.put(r#"<th scope="col" class="num">{}</th>"#, &[title]),
            Column::Part(part, title) => html
                .put(r#"<th scope="col" class="num"><span class="swatch {}"></span>{}</th>"#, &[part, title]),
            Column::Chart(title) => html.put(r#"<th scope="col" class="chart">{}</th>"#, &[title]),
            Column::Scale(scale) => {
                html.put(r#"<th scope="col" class="chart">"#, &[]);
                scale(html);
                html.put("</th>", &[])
            }
        };
    }
    html.put("</tr></thead>", &[]);
}

/// Closes what [`open`] opened.
pub(crate) fn close(html: &mut Html) {
    html.put("</table></div>", &[]);
}
