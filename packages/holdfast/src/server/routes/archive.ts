import { randomUUID } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ok, Stats } from '@holdfast/protocol'
import { z } from 'zod'
import { defineRoute, wholeNumber } from '../http/route.ts'
import { onDisk, spoolBody } from '../http/spool-body.ts'

const flag = z
  .enum(['true', 'false'])
  .transform((word) => word === 'true')
  .optional()
const format = z.enum(['md', 'html', 'json', 'jsonl']).optional()

const mediaTypes = {
  md: 'text/markdown; charset=utf-8',
  html: 'text/html; charset=utf-8',
  json: 'application/json',
  jsonl: 'application/x-ndjson',
} as const

/** Given out as it is read: a session is never whole in memory. A browser saves it, and shows none of it. */
export const exportSession = defineRoute({
  method: 'GET',
  path: '/v1/sessions/:id/export',
  access: 'token',
  summary: 'A session written out as markdown, HTML, JSON or JSONL',
  query: z.strictObject({ format, redact: flag }),
  answers: { status: 200, mediaType: 'text/markdown', schema: null },
  async handle({ session, input }, { archive }) {
    const { format: asked = 'md' } = input.query
    const pieces = await archive.export(session, input.query)
    if (!pieces.ok) return pieces
    const headers = {
      'content-type': mediaTypes[asked],
      'content-disposition': `attachment; filename="session.${asked}"`,
    }
    return ok(new Response(bytesOf(pieces.value), { headers }))
  },
})

function bytesOf(pieces: AsyncIterable<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const reading = pieces[Symbol.asyncIterator]()
  return new ReadableStream({
    async pull(controller) {
      const next = await reading.next()
      if (next.done) controller.close()
      else controller.enqueue(encoder.encode(next.value))
    },
    async cancel() {
      await reading.return?.()
    },
  })
}

const Imported = z.object({
  files: z.array(
    z.object({
      status: z.string(),
      session: z.string().nullable(),
      format: z.string().nullable(),
      messages: z.int(),
      remarks: z.array(z.object({ code: z.string(), what: z.string(), line: z.int().optional() })),
    }),
  ),
})

/** What the file is, its bytes say; `name` is what it was called where it came from. */
export const importFile = defineRoute({
  method: 'POST',
  path: '/v1/import',
  access: 'admin',
  summary: 'Take over the session of a file, of another program or of another Holdfast',
  query: z.strictObject({ name: z.string().max(255).optional(), from: z.string().max(40).optional() }),
  takesBytes: true,
  answers: { status: 200, mediaType: 'application/json', schema: Imported },
  async handle({ request, input }, { archive }) {
    const { name = 'session', from } = input.query
    const made = await onDisk(() => mkdtemp(join(tmpdir(), 'holdfast-import-')))
    if (!made.ok) return made
    const directory = made.value
    try {
      const path = join(directory, fileName(name))
      const opened = await onDisk(() => open(path, 'wx', 0o600))
      if (!opened.ok) return opened
      const kept = await spoolBody(request, opened.value).finally(() => opened.value.close())
      if (!kept.ok) return kept
      const files = await archive.importFile(path, { from })
      return files.ok ? ok(Response.json({ files: files.value })) : files
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  },
})

const fileNameBytesMax = 255

/** The last part of a name as a file here may have it: some programs say in it what a session is called. */
function fileName(name: string): string {
  const last = basename(name.replaceAll('\\', '/'))
  const isUsable = !/^[.]{0,2}$|\p{Cc}/u.test(last) && Buffer.byteLength(last) <= fileNameBytesMax
  return isUsable ? last : randomUUID()
}

export const getStats = defineRoute({
  method: 'GET',
  path: '/v1/stats',
  access: 'admin',
  summary: 'How much was said, used and kept',
  query: z.strictObject({ days: wholeNumber.pipe(z.int().min(1).max(3660)).optional() }),
  answers: { status: 200, mediaType: 'application/json', schema: Stats },
  async handle({ input }, { archive }) {
    const stats = await archive.stats(input.query)
    return stats.ok ? ok(Response.json(stats.value)) : stats
  },
})
