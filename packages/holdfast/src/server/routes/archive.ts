import { randomUUID } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ok, Stats } from '@holdfast/protocol'
import { z } from 'zod'
import { catchDiskErrors, spoolBody } from '../http/request-body.ts'
import { answersJson, defineRoute, flag, type Route, wholeNumber } from '../http/route.ts'

const mediaTypes = {
  md: 'text/markdown; charset=utf-8',
  html: 'text/html; charset=utf-8',
  json: 'application/json',
  jsonl: 'application/x-ndjson',
} as const

/** Streams the export, so that a session is never whole in memory. A browser saves it instead of showing it. */
const exportSession = defineRoute({
  method: 'GET',
  path: '/v1/sessions/:id/export',
  access: 'token',
  summary: 'Export a session as Markdown, HTML, JSON or JSONL',
  query: z.strictObject({ format: z.enum(['md', 'html', 'json', 'jsonl']).optional(), redact: flag }),
  answers: { status: 200, mediaType: 'text/markdown', schema: null },
  async handle({ session, input }, { archive }) {
    const { format = 'md' } = input.query
    const pieces = await archive.export(session, input.query)
    if (!pieces.ok) return pieces
    const headers = {
      'content-type': mediaTypes[format],
      'content-disposition': `attachment; filename="session.${format}"`,
    }
    return ok(new Response(encodePieces(pieces.value), { headers }))
  },
})

const encodePieces = (pieces: AsyncIterable<string>) => ReadableStream.from(pieces).pipeThrough(new TextEncoderStream())

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

/** The bytes decide the format; `name` is the original file name. */
const importFile = defineRoute({
  method: 'POST',
  path: '/v1/import',
  access: 'admin',
  summary: 'Import the sessions of a file from another program or another Holdfast',
  query: z.strictObject({ name: z.string().max(255).optional(), from: z.string().max(40).optional() }),
  takesBytes: true,
  answers: answersJson(Imported),
  async handle({ request, input }, { archive }) {
    const { name = 'session', from } = input.query
    const made = await catchDiskErrors(() => mkdtemp(join(tmpdir(), 'holdfast-import-')))
    if (!made.ok) return made
    const directory = made.value
    try {
      const path = join(directory, safeFileName(name))
      const opened = await catchDiskErrors(() => open(path, 'wx', 0o600))
      if (!opened.ok) return opened
      const spooled = await spoolBody(request, opened.value).finally(() => opened.value.close())
      if (!spooled.ok) return spooled
      const files = await archive.importFile(path, { from })
      return files.ok ? ok({ files: files.value }) : files
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  },
})

const fileNameBytesMax = 255

/** Returns the last part of a path, as some programs store the session title in it; a random name if it is not usable. */
function safeFileName(name: string): string {
  const last = basename(name.replaceAll('\\', '/'))
  const isUsable = !/^[.]{0,2}$|\p{Cc}/u.test(last) && Buffer.byteLength(last) <= fileNameBytesMax
  return isUsable ? last : randomUUID()
}

const getStats = defineRoute({
  method: 'GET',
  path: '/v1/stats',
  access: 'admin',
  summary: 'Count sessions, messages, tokens and stored bytes',
  query: z.strictObject({ days: wholeNumber.pipe(z.int().min(1).max(3660)).optional() }),
  answers: answersJson(Stats),
  handle: ({ input }, { archive }) => archive.stats(input.query),
})

export const archiveRoutes: readonly Route[] = [exportSession, importFile, getStats]
