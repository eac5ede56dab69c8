package policies

import (
	"fmt"
	"strings"
)

// suggest ends an error about an unknown name: the nearest known one if it is near, and all of them.
func suggest(name string, known []string) string {
	best, least := "", len(name)/2+1
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	list := "known: " + strings.Join(known, ", ")
	if best == "" {
		return list
	}
	return fmt.Sprintf("did you mean %q? %s", best, list)
}

// distance returns the Levenshtein distance of two names, in bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
