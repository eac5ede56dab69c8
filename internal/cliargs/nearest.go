package cliargs

// Nearest returns the candidate within two edits, or a third of the word's length if that is more: the first of the
// nearest ones, or "".
func Nearest(word string, candidates []string) string {
	best, limit := "", max(2, len(word)/3)+1
	for _, c := range candidates {
		if d := edits(word, c); d < limit {
			best, limit = c, d
		}
	}
	return best
}

// edits returns the Levenshtein distance in bytes, O(len(a)·len(b)).
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal, row[j] = row[j], min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
