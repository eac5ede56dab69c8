package bundle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// ErrJournal is the error of a journal that cannot be read.
var ErrJournal = errors.New("malformed journal")

// blockMagic begins a file of blocks.
const blockMagic = "coldwave journal 1\n"

// blockHead is the length of what stands before the bytes of a block: their number and their checksum.
const blockHead = 8

// castagnoli is the polynomial of the checksums; processors know it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// blockWriter appends blocks to a file. A block is whole or, after a crash, cut: its length and checksum tell.
type blockWriter struct {
	to     diskFile
	head   []byte
	broken bool // a block may be cut, so nothing may follow it
	closed bool
}

func createBlocks(d disk, name string) (*blockWriter, error) {
	f, err := d.Create(name)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(f, blockMagic); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &blockWriter{to: f, head: make([]byte, blockHead)}, nil
}

// write appends a block; nothing for no bytes.
func (b *blockWriter) write(block []byte) error {
	if len(block) == 0 || b.closed {
		return nil
	}
	if b.broken {
		return fmt.Errorf("%w: a block before is cut", ErrJournal)
	}
	sealBlock(b.head, block)
	_, err := b.to.Write(b.head)
	if err == nil {
		_, err = b.to.Write(block)
	}
	b.broken = err != nil
	return err
}

func sealBlock(head, block []byte) {
	binary.LittleEndian.PutUint32(head, uint32(len(block)))
	binary.LittleEndian.PutUint32(head[4:], crc32.Checksum(block, castagnoli))
}

func (b *blockWriter) close() error {
	if b.closed {
		return nil
	}
	b.closed = true
	return b.to.Close()
}

// maxBlock is the largest block that is read: twice what may wait for the disk.
const maxBlock = 2 * mostBytes

// readBlocks calls use with each whole block and its place in the file, and returns how many bytes at the end belong to
// none: a block that was cut, or damaged. The bytes are valid until use returns.
func readBlocks(r io.ReaderAt, size int64, use func(at int64, block []byte) error) (torn int64, err error) {
	magic := make([]byte, len(blockMagic))
	if _, err := r.ReadAt(magic, 0); err != nil || string(magic) != blockMagic {
		return size, nil
	}
	head, block, at := make([]byte, blockHead), []byte(nil), int64(len(blockMagic))
	for at+blockHead <= size {
		if _, err := r.ReadAt(head, at); err != nil {
			return 0, err
		}
		n := int64(binary.LittleEndian.Uint32(head))
		if n > maxBlock || n > size-at-blockHead {
			break
		}
		if int64(cap(block)) < n {
			block = make([]byte, n)
		}
		block = block[:n]
		if _, err := r.ReadAt(block, at+blockHead); err != nil {
			return 0, err
		}
		if crc32.Checksum(block, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
			break
		}
		if err := use(at+blockHead, block); err != nil {
			return 0, err
		}
		at += blockHead + n
	}
	return size - at, nil
}
