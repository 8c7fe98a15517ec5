import { limits, ok, StoredFile, StoreFileOptions } from '@holdfast/protocol'
import { z } from 'zod'
import { readBytes } from '../http/request-body.ts'
import { defineRoute, flag } from '../http/route.ts'

/** What the file is, its bytes say: its `Content-Type` is not read. */
export const storeFile = defineRoute({
  method: 'POST',
  path: '/v1/blobs',
  access: 'token',
  summary: 'Store a file for a prompt',
  query: z.strictObject({ name: StoreFileOptions.shape.name, persist: flag.optional() }),
  takesBytes: true,
  answers: { status: 201, mediaType: 'application/json', schema: StoredFile },
  async handle({ request, input }, { sessions }) {
    const bytes = await readBytes(request, limits.blobBytesMax)
    if (!bytes.ok) return bytes
    const stored = await sessions.storeFile(bytes.value, input.query)
    return stored.ok ? ok(Response.json(stored.value, { status: 201 })) : stored
  },
})
