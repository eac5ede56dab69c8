package reports

import (
	"bytes"
	"testing"
)

func TestListWrapsOnlyItsLastColumn(t *testing.T) {
	var out bytes.Buffer
	rows := [][]string{{"fc-bound", "a request waits for its own start, whatever becomes free meanwhile"}, {"short"}}
	if err := List(&out, Style{Width: 50}, []string{"policy", "summary"}, rows); err != nil {
		t.Fatal(err)
	}
	want := " policy   | summary\n" +
		"----------+------------------------------------\n" +
		" fc-bound | a request waits for its own start,\n" +
		"          | whatever becomes free meanwhile\n" +
		" short    |\n"
	if got := out.String(); got != want {
		t.Errorf("List:\n%s\nwant:\n%s", got, want)
	}
}
