import { randomUUID } from 'node:crypto'
import { orThrow } from '@holdfast/protocol/result'
import type { Database } from '../connect/connect.ts'
import type { S3Objects } from './s3-objects.ts'
import { parseS3Url, type S3Place, s3Url } from './s3-url.ts'

/** How many bytes are in a chunk of the database, and in an object elsewhere. */
const [chunkBytes, objectBytes] = [256 * 1024, 8 * 1024 * 1024]
export const nowMs = '(extract(epoch from clock_timestamp()) * 1000)::bigint'

/** The bytes of blobs, under numbers. A content without a blob is an upload that runs or was cut off. */
export type Contents = ReturnType<typeof createContents>

/** New contents go to `place`; without it, into the database. Each says where it is, so that all can be read. */
export function createContents({ read, write }: Database, objects: S3Objects, place: S3Place | null = null) {
  /** Where a content is: the objects and their number, or null for chunks of the database. */
  async function findObjects(content: number): Promise<{ readonly at: S3Place; readonly pieces: number } | null> {
    const [row] = await read('select object, pieces from @content where id = $1', [content])
    const object = row?.['object'] ?? null
    return object === null ? null : { at: orThrow(parseS3Url(String(object))), pieces: Number(row?.['pieces']) }
  }

  async function* readContent(content: number): AsyncGenerator<Uint8Array> {
    const found = await findObjects(content)
    if (found) {
      for (let number = 0; number < found.pieces; number += 1) yield await objects.get(found.at, String(number))
      return
    }
    for (let number = 0; ; number += 1) {
      const [row] = await read('select bytes from @chunk where content = $1 and number = $2', [content, number])
      if (row === undefined) return
      yield row['bytes'] as Uint8Array // the column holds bytes
    }
  }

  /** Removes a content. Its row is removed last: if this is interrupted, a later sweep finds the row and removes the rest. */
  async function remove(content: number): Promise<void> {
    const found = await findObjects(content)
    for (let number = 0; number < (found?.pieces ?? 0); number += 1)
      if (found) await objects.remove(found.at, String(number))
    await write('delete from @content where id = $1', [content])
  }

  const writeChunk = async (content: number | null, number: number, bytes: Uint8Array): Promise<number> => {
    const id = content ?? Number((await write(`insert into @content (at) values (${nowMs}) returning id`))[0]?.['id'])
    await write('insert into @chunk (content, number, bytes) values ($1, $2, $3)', [id, number, bytes])
    return id
  }

  /** Counts an object before it is written, so that none is forgotten. */
  const createObjectWriter = (base: S3Place) => {
    const at = { ...base, prefix: `${base.prefix}${randomUUID()}/` }
    return async (content: number | null, number: number, bytes: Uint8Array): Promise<number> => {
      const insert = `insert into @content (at, object, pieces) values (${nowMs}, $1, $2) returning id`
      const [row] =
        content === null
          ? await write(insert, [s3Url(at), 1])
          : await write('update @content set pieces = $2 where id = $1 returning id', [content, number + 1])
      await objects.put(at, String(number), bytes)
      return Number(row?.['id'])
    }
  }

  return {
    read: readContent,
    remove,
    /** Writes one content piece by piece. A stream that fails leaves a content without a blob. */
    upload: () =>
      place === null ? createUpload(writeChunk, chunkBytes) : createUpload(createObjectWriter(place), objectBytes),
  }
}

type WritePiece = (content: number | null, number: number, bytes: Uint8Array) => Promise<number>

function createUpload(writePiece: WritePiece, pieceBytes: number) {
  let content: number | null = null
  let [pending, pendingBytes, number]: [Uint8Array[], number, number] = [[], 0, 0]

  async function flush(): Promise<number> {
    const bytes = Buffer.concat(pending)
    ;[pending, pendingBytes] = [[], 0]
    content = await writePiece(content, number, bytes)
    number += 1
    return content
  }

  return {
    async add(bytes: Uint8Array): Promise<void> {
      for (let from = 0; from < bytes.byteLength; ) {
        const some = bytes.subarray(from, from + pieceBytes - pendingBytes)
        pending.push(some)
        pendingBytes += some.byteLength
        from += some.byteLength
        if (pendingBytes >= pieceBytes) await flush()
      }
    },
    /** Writes what is left and returns the number of the content. */
    end: async (): Promise<number> => (content === null || pendingBytes > 0 ? flush() : content),
    /** The number of what was written so far; null for nothing. */
    written: (): number | null => content,
  }
}
