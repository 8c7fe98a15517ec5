import { BlobHash, ok } from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute, parse } from '../http/route.ts'

const Named = z.object({ hash: BlobHash })

/**
 * Bytes that may be anything a model, a tool or a stranger made: a browser may save them and must neither guess what they
 * are nor run them under our address.
 */
const inert = {
  'content-type': 'application/octet-stream',
  'content-security-policy': "default-src 'none'; sandbox",
} as const

export const getSessionBlob = defineRoute({
  method: 'GET',
  path: '/v1/sessions/:id/blobs/:hash',
  access: 'token',
  summary: 'The bytes of a file or a long output that a record of this session names',
  answers: { status: 200, mediaType: 'application/octet-stream', schema: z.string() },
  async handle({ session, path }, { sessions }) {
    const named = parse(Named, { hash: path['hash'] })
    if (!named.ok) return named
    const handle = await sessions.open(session)
    if (!handle.ok) return handle
    const { hash } = named.value
    const bytes = await handle.value.blob(hash)
    if (!bytes.ok) return bytes
    const headers = { ...inert, 'content-disposition': `attachment; filename="${hash}"` }
    return ok(new Response(ReadableStream.from(bytes.value), { headers }))
  },
})
