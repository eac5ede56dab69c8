package reports

import "io"

// A Format is one way to write a result. This table is the only place where formats are listed.
type Format struct {
	Name         string // as it is asked for, such as "html"
	Extension    string // of its file, with the dot
	MediaType    string
	Verification func(io.Writer, Verification) error
	Single       func(io.Writer, Single) error
}

// Formats lists the formats. Text is written for a pipe; VerificationText and SingleText know terminals.
func Formats() []Format {
	return []Format{
		{"text", ".txt", "text/plain; charset=utf-8",
			func(w io.Writer, v Verification) error { return VerificationText(w, v, Style{}) },
			func(w io.Writer, r Single) error { return SingleText(w, r, Style{}) }},
		{"md", ".md", "text/markdown; charset=utf-8", VerificationMarkdown, SingleMarkdown},
		{"json", ".json", "application/json", VerificationJSON, SingleJSON},
		{"html", ".html", "text/html; charset=utf-8",
			func(w io.Writer, v Verification) error { return VerificationHTML(w, v, Limits{}) },
			func(w io.Writer, r Single) error { return SingleHTML(w, r, Limits{}) }},
	}
}
