import { BlobHash, limits, ok, StoredFile, StoreFileOptions } from '@holdfast/protocol'
import { z } from 'zod'
import { readBytes } from '../../bodies/request-body.ts'
import { answersJson, defineRoute, flag, parse, type Route } from '../../define/route.ts'
import { answerByteStream } from '../../streams/byte-stream.ts'

/** The bytes decide what kind of file it is; `Content-Type` is ignored. */
const storeFile = defineRoute({
  on: 'POST /v1/blobs',
  summary: 'Store a file for a prompt',
  query: z.strictObject({ name: StoreFileOptions.shape.name, persist: flag }),
  takesBytes: true,
  answers: answersJson(StoredFile, 201),
  refuses: ['wrong_media_type', 'missing_package'],
  async handle({ request, input, caller }, { sessions, uploads, ownFiles, pace }) {
    const held = uploads.hold()
    try {
      const bytes = await readBytes(request, limits.blobBytesMax, held, pace)
      if (!bytes.ok) return bytes
      const stored = await sessions.storeFile(bytes.value, input.query)
      const added = stored.ok ? await ownFiles.add(caller, stored.value.file.blob) : stored
      return added.ok ? stored : added
    } finally {
      held.release()
    }
  },
})

/**
 * Blobs may hold anything: a browser may save them, but must not guess their type or run them in our origin. Their bytes
 * never change, but another login must not find them in the cache of the browser.
 */
const blobHeaders = {
  'content-type': 'application/octet-stream',
  'content-security-policy': "default-src 'none'; sandbox",
  'cache-control': 'private, max-age=31536000, immutable',
  vary: 'Authorization, Cookie',
} as const

const getSessionBlob = defineRoute({
  on: 'GET /v1/sessions/:id/blobs/:hash',
  summary: 'Get a file or long output that a record of this session names',
  headers: z.object({ 'if-none-match': z.string().max(1000).optional() }),
  answers: {
    status: 200,
    mediaType: 'application/octet-stream',
    schema: z.string(),
    mayBeUnchanged: true,
    headers: { ETag: 'The hash of the bytes, in quotes', 'Cache-Control': 'The bytes of a hash never change' },
  },
  refuses: ['blob_not_found'],
  async handle({ session, path, input }, { sessions, outbox }) {
    const named = parse(z.object({ hash: BlobHash }), { hash: path['hash'] })
    if (!named.ok) return named
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const { hash } = named.value
    const etag = `"${hash}"`
    const headers = { ...blobHeaders, etag, 'content-disposition': `attachment; filename="${hash}"` }
    if (!hasUnchanged(input.headers['if-none-match'], etag))
      return answerByteStream(outbox, { kind: 'stream', headers, open: () => handle.value.blob(hash) })
    // The session must still name it: a hash alone gives no access.
    const opened = await handle.value.blob(hash)
    if (!opened.ok) return opened
    for await (const _ of opened.value) break // closes the file
    return ok(new Response(null, { status: 304, headers }))
  },
})

export const blobRoutes: readonly Route[] = [storeFile, getSessionBlob]

/** Returns whether a client already has what this tag names, as its `If-None-Match` says. */
function hasUnchanged(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const known = ifNoneMatch.split(',').map((one) => one.trim().replace(/^W\//, ''))
  return known.includes('*') || known.includes(tag)
}
