// Package spell finds the name that was probably meant.
package spell

// Nearest returns the candidate with the fewest edits from word, the first of several equal ones, or "" if even that one
// is further than two edits and than a third of the word.
func Nearest(word string, candidates []string) string {
	best, fewest := "", max(2, len(word)/3)+1
	for _, c := range candidates {
		if n := edits(word, c); n < fewest {
			best, fewest = c, n
		}
	}
	return best
}

// Hint is Nearest as the end of an error text, such as `, did you mean "rate"?`, or "".
func Hint(word string, candidates []string) string {
	if near := Nearest(word, candidates); near != "" {
		return `, did you mean "` + near + `"?`
	}
	return ""
}

// edits is the least number of inserted, deleted or replaced bytes that turns a into b.
func edits(a, b string) int {
	row := make([]int, len(b)+1) // row[j]: edits from the part of a seen so far to b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := corner
			if a[i] != b[j] {
				replaced++
			}
			corner = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
