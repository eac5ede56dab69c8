package bundle

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// ErrDamaged says that a run directory does not hold what its checksums promise.
var ErrDamaged = errors.New("damaged run directory")

// ErrUnfinished says that a run directory was never finished: the run goes on, or was killed.
var ErrUnfinished = errors.New("unfinished run directory")

// maxSums is the largest list of checksums that is read, in bytes.
const maxSums = 64 << 20

// Check reads every file of the run directory and compares it with the list of checksums. It returns ErrDamaged for a
// missing, changed or unlisted file and for a list that is not as it was written, joined over all of them, and
// ErrUnfinished for a directory that is still to be recovered.
func Check(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("run directory: %w", err)
	}
	defer root.Close()
	if isUnfinished(dir) {
		return fmt.Errorf("%s: %w: if nothing writes it any more, run 'loadgen recover %s'", dir, ErrUnfinished, dir)
	}
	if err := checkFiles(root, ""); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// checkFiles compares the files with the list of checksums. The folder besides may hold anything; "" is none.
func checkFiles(root *os.Root, besides string) error {
	want, err := readSums(root)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return errors.Join(checkListed(root, want), checkUnlisted(root, want, besides))
}

// readSums reads the list. It must be the very text that its entries give, or a cut or changed byte could go unseen.
func readSums(root *os.Root) (map[string]string, error) {
	f, err := root.Open(Sums)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSums))
	if err != nil {
		return nil, err
	}
	want := map[string]string{}
	for i, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
		sum, name, ok := strings.Cut(line, "  ")
		if !ok || len(sum) != 2*sha256.Size || name == "" {
			return nil, fmt.Errorf("%s:%d: not a checksum line", Sums, i+1)
		}
		want[name] = sum
	}
	var again strings.Builder
	if err := listSums(&again, want); err != nil || again.String() != string(text) {
		return nil, fmt.Errorf("%s: not as it was written: lines are missing, there twice or out of order, or the end is", Sums)
	}
	return want, nil
}

func checkListed(root *os.Root, want map[string]string) error {
	var errs []error
	for _, name := range sortedNames(want) {
		got, err := sumOf(root, name)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s: %w: %w", name, ErrDamaged, err))
		case got != want[name]:
			errs = append(errs, fmt.Errorf("%s: %w: its SHA-256 is %s, not %s", name, ErrDamaged, got, want[name]))
		}
	}
	return errors.Join(errs...)
}

func sumOf(root *os.Root, name string) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	digest := sha256.New()
	if _, err := io.Copy(digest, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

func checkUnlisted(root *os.Root, want map[string]string, besides string) error {
	var errs []error
	err := fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && d.IsDir() && name == besides:
			return fs.SkipDir
		case err != nil || d.IsDir() || name == Sums:
			return err
		}
		if _, ok := want[name]; !ok {
			errs = append(errs, fmt.Errorf("%s: %w: not in %s", name, ErrDamaged, Sums))
		}
		return nil
	})
	return errors.Join(append(errs, err)...)
}
