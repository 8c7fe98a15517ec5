/** The rows on the pages of a database file, read without SQLite (sqlite.org/fileformat2.html). */
export type PageRow = {
  readonly page: number
  readonly rowid: number
  readonly values: readonly PageValue[]
  /** True if the header of its page is intact: then the row was not deleted. */
  readonly isListed: boolean
}
export type PageValue = null | number | string | Uint8Array

export const pageBytes = 4096
const leafTable = 0x0d
/** Page 1 begins with the header of the file. */
export const fileHeaderBytes = 100
const localMax = pageBytes - 35
const localMin = Math.floor(((pageBytes - 12) * 32) / 255) - 23
const overflowBytes = pageBytes - 4

/** Returns page `number`, which begins with 1, or null if there is none. */
export type ReadPage = (number: number) => Buffer | null

/**
 * Reads the rows of a leaf page of any table, with their overflow pages. Skips cells that are damaged. A page whose header
 * is not that of a leaf is tried too: the header may be damaged. The caller checks what it gets.
 */
export function* readPageRows(number: number, readPage: ReadPage): Generator<PageRow> {
  const page = readPage(number)
  if (page === null) return
  const start = number === 1 ? fileHeaderBytes : 0
  const isListed = hasLeafHeader(page, start)
  for (const cell of findCells(page, start, isListed)) {
    const row = readCell(page, cell, readPage)
    if (row !== null) yield { page: number, isListed, ...row }
  }
}

function hasLeafHeader(page: Buffer, start: number): boolean {
  const [cells, content] = [page.readUInt16BE(start + 3), page.readUInt16BE(start + 5)]
  return page[start] === leafTable && start + 8 + 2 * cells <= content && content <= pageBytes
}

/** Returns where the cells of a page begin. Without a usable header, takes every pointer that could be one. */
function findCells(page: Buffer, start: number, isListed: boolean): readonly number[] {
  const pointers = start + 8
  const cells = page.readUInt16BE(start + 3)
  if (isListed) return Array.from({ length: cells }, (_, cell) => page.readUInt16BE(pointers + 2 * cell))
  const found: number[] = []
  for (let [at, end] = [pointers, pageBytes]; at + 2 <= end; at += 2) {
    const cell = page.readUInt16BE(at)
    if (cell < at + 2 || cell >= pageBytes) break
    found.push(cell)
    end = Math.min(end, cell) // the pointers end where the first cell begins
  }
  return found
}

function readCell(page: Buffer, at: number, readPage: ReadPage): Pick<PageRow, 'rowid' | 'values'> | null {
  const length = readVarint(page, at)
  const rowid = length && readVarint(page, length.end)
  if (!length || !rowid) return null
  const payload = readPayload(page, rowid.end, length.value, readPage)
  const values = payload && decodeValues(payload)
  return values ? { rowid: rowid.value, values } : null
}

/** A long payload continues in a chain of other pages. It cannot be longer than its pages. */
function readPayload(page: Buffer, at: number, length: number, readPage: ReadPage): Buffer | null {
  const fitting = localMin + ((length - localMin) % overflowBytes)
  const local = length <= localMax ? length : fitting <= localMax ? fitting : localMin
  if (at + local + (local < length ? 4 : 0) > pageBytes) return null
  const parts = [page.subarray(at, at + local)]
  let [left, next] = [length - local, local < length ? page.readUInt32BE(at + local) : 0]
  const seen = new Set<number>()
  while (left > 0) {
    const following = seen.has(next) ? null : readPage(next)
    if (following === null) return null
    seen.add(next)
    parts.push(following.subarray(4, 4 + Math.min(left, overflowBytes)))
    left -= overflowBytes
    next = following.readUInt32BE(0)
  }
  return Buffer.concat(parts)
}

function decodeValues(payload: Buffer): readonly PageValue[] | null {
  const header = readVarint(payload, 0)
  if (header === null || header.value > payload.length) return null
  const values: PageValue[] = []
  let body = header.value
  for (let at = header.end; at < header.value; ) {
    const type = readVarint(payload, at)
    if (type === null) return null
    const bytes = bytesOf(type.value)
    if (bytes === null || body + bytes > payload.length) return null
    values.push(decodeValue(type.value, payload.subarray(body, body + bytes)))
    body += bytes
    at = type.end
  }
  return values
}

const fixedBytes = [0, 1, 2, 3, 4, 6, 8, 8, 0, 0] as const
const bytesOf = (type: number): number | null => (type >= 12 ? Math.floor((type - 12) / 2) : (fixedBytes[type] ?? null))

function decodeValue(type: number, bytes: Buffer): PageValue {
  if (type === 0) return null
  if (type === 6) return Number(bytes.readBigInt64BE(0))
  if (type === 7) return bytes.readDoubleBE(0)
  if (type < 8) return bytes.readIntBE(0, bytes.length)
  if (type < 10) return type - 8
  return type % 2 === 1 ? bytes.toString('utf8') : new Uint8Array(bytes)
}

/** Reads a number of up to nine bytes. Returns null at the end of the bytes, or if it is no safe integer. */
function readVarint(bytes: Buffer, at: number): { readonly value: number; readonly end: number } | null {
  let value = 0
  for (let index = 0; index < 9; index++) {
    const byte = bytes[at + index]
    if (byte === undefined) return null
    value = index === 8 ? value * 256 + byte : value * 128 + (byte & 0x7f)
    if (!Number.isSafeInteger(value)) return null
    if (index === 8 || byte < 0x80) return { value, end: at + index + 1 }
  }
  return null
}

/**
 * Returns the numbers of the pages that no table uses, which keep removed rows. Returns null if their list is damaged.
 * `first` and `count` are those of the header.
 */
export function readFreePages(first: number, count: number, readPage: ReadPage): ReadonlySet<number> | null {
  const free = new Set<number>()
  for (let trunk = first; trunk !== 0; ) {
    const page = free.has(trunk) ? null : readPage(trunk)
    const leaves = page?.readUInt32BE(4) ?? 0
    if (page === null || leaves > pageBytes / 4 - 2) return null
    free.add(trunk)
    for (let leaf = 0; leaf < leaves; leaf++) free.add(page.readUInt32BE(8 + 4 * leaf))
    trunk = page.readUInt32BE(0)
  }
  return free.size === count ? free : null
}
