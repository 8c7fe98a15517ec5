import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { companionName, fault, ImportAnswer, limits, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { safeFileName } from '../../../system/files/safe-file-name.ts'
import { storageReason, systemErrorCode } from '../../../system/system-error.ts'
import { type Pace, readPaced } from '../../bodies/paced-body.ts'
import { answersJson, defineRoute, flag, type Route, wholeNumber } from '../../define/route.ts'
import { answerByteStream } from '../../streams/byte-stream.ts'

const mediaTypes = {
  md: 'text/markdown; charset=utf-8',
  html: 'text/html; charset=utf-8',
  json: 'application/json',
  jsonl: 'application/x-ndjson',
} as const

/** What the thread of an export holds while a piece of its text is sent. */
const threadBytes = 8 * 1024 * 1024

/** Streams the export, so that a session is never whole in memory. A browser saves it instead of showing it. */
const exportSession = defineRoute({
  on: 'GET /v1/sessions/:id/export',
  summary: 'Export a session as Markdown, HTML, JSON or JSONL',
  query: z.strictObject({
    format: z.enum(['md', 'html', 'json', 'jsonl']).optional(),
    redact: flag,
    name: z.string().min(1).max(500).optional(),
  }),
  answers: {
    status: 200,
    mediaType: 'text/markdown',
    schema: z.string(),
    otherTypes: ['text/html', 'application/json', 'application/x-ndjson'],
    headers: { 'Content-Disposition': 'A file name to save it under' },
  },
  refuses: ['not_found'],
  async handle({ request, session, input }, { transfer, outbox }) {
    const { format = 'md', name = session, ...options } = input.query
    const headers = {
      'content-type': mediaTypes[format],
      'content-disposition': savedAs(`${plainName(name)}.${format}`),
    }
    const open = async () => {
      const pieces = await transfer.export(session, { ...options, format })
      return pieces.ok ? ok(outbox.readInSlices(pieces.value, request.signal)) : pieces
    }
    const sourceBytes = format === 'jsonl' && !options.redact ? 0 : threadBytes
    return answerByteStream(outbox, { kind: 'export', headers, open, sourceBytes })
  },
})

const nameCharsMax = 80

/** Returns a name that every file system takes; `session` if nothing of it is left. */
const plainName = (name: string): string =>
  [...name.replace(/[\p{C}\p{Z}<>:"/\\|?*]+/gu, ' ').replace(/^[ .]+/, '')]
    .slice(0, nameCharsMax)
    .join('')
    .replace(/(?<![ .])[ .]+$/, '') || 'session'

/** Tells a browser the name to save a file under. Old programs read the first one, which has no other letters. */
const savedAs = (name: string): string =>
  `attachment; filename="${name.replace(/[^\x20-\x7e]/gu, '_')}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)}`

/**
 * The bytes decide the format; `name` is the original file name. The first `companionBytes` bytes are the file that
 * describes it.
 */
const importFile = defineRoute({
  on: 'POST /v1/import',
  summary: 'Import the sessions of a file from another program or another Holdfast',
  query: z.strictObject({
    name: z.string().max(255).optional(),
    from: z.string().max(40).optional(),
    keepSettings: flag,
    companionBytes: wholeNumber.pipe(z.int().max(limits.companionBytesMax)).optional(),
  }),
  takesBytes: true,
  answers: answersJson(ImportAnswer),
  refuses: ['import_stopped', 'not_found'],
  async handle({ request, input }, { transfer, spoolDir, pace, closing }) {
    const { name = 'session', from, keepSettings, companionBytes = 0 } = input.query
    // Before the upload, which takes space on the disk while it waits. A slow one gives up its place.
    const admitted = transfer.admitImport()
    if (!admitted.ok) return admitted
    using _place = admitted.value
    const made = await catchDiskErrors(() => mkdtemp(join(spoolDir, 'holdfast-import-')))
    if (!made.ok) return made
    const directory = made.value
    try {
      const path = join(directory, safeFileName(name))
      const companion = companionName(path)
      if (companionBytes > 0 && companion === null) return noCompanion
      const opened = await catchDiskErrors(() => open(path, 'wx', 0o600))
      if (!opened.ok) return opened
      const file = withHead(opened.value, companionBytes)
      const spooled = await spoolBody(request, file, pace).finally(() => opened.value.close())
      if (!spooled.ok) return spooled
      if (file.missing() > 0) return tooShort
      const described =
        companion === null || companionBytes === 0
          ? ok(undefined)
          : await catchDiskErrors(() => writeFile(companion, file.head(), { mode: 0o600 }))
      if (!described.ok) return described
      const signal = AbortSignal.any([request.signal, closing])
      const files = await transfer.importFile(path, { from, keepSettings, signal })
      return files.ok ? ok({ files: files.value }) : files
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  },
})

const bytesMax = limits.importBytesMax
const message = `An upload may have at most ${bytesMax} bytes. Import a larger file with \`holdfast import\`.`
const importTooLarge = refuse(fault('too_large', message, { limit: 'importBytesMax', bytesMax }))

const noCompanion = refuse(
  fault('bad_request', 'companionBytes needs a name that ends in .jsonl: only such files have one beside them.'),
)

const tooShort = refuse(
  fault(
    'bad_request',
    'The body has fewer bytes than companionBytes says. Send the companion first, then the session file.',
  ),
)

/** Keeps the first bytes that are written, and writes the rest to a file. */
function withHead(file: Pick<FileHandle, 'writeFile'>, length: number) {
  const kept: Uint8Array[] = []
  let missing = length
  return {
    head: () => Buffer.concat(kept),
    /** How many of the first bytes have not come. */
    missing: () => missing,
    async writeFile(chunk: Uint8Array): Promise<void> {
      const head = chunk.subarray(0, missing)
      missing -= head.byteLength
      if (head.byteLength > 0) kept.push(head)
      if (head.byteLength < chunk.byteLength) await file.writeFile(chunk.subarray(head.byteLength))
    },
  }
}

/** Streams a body to a file, so that it is never whole in memory. */
export async function spoolBody(
  request: Request,
  file: { readonly writeFile: (chunk: Uint8Array) => Promise<void> },
  pace?: Pace,
): Promise<Result<null>> {
  if (Number(request.headers.get('content-length') ?? 0) > bytesMax) return importTooLarge
  let bytes = 0
  for await (const chunk of readPaced(request, pace)) {
    if (!chunk.ok) return chunk
    bytes += chunk.value.byteLength
    if (bytes > bytesMax) return importTooLarge
    const written = await catchDiskErrors(() => file.writeFile(chunk.value))
    if (!written.ok) return written
  }
  return ok(null)
}

/** Returns a disk error as a fault. It names no path: clients must not learn the server's folders. */
async function catchDiskErrors<Value>(work: () => Promise<Value>): Promise<Result<Value>> {
  try {
    return ok(await work())
  } catch (error) {
    const errno = systemErrorCode(error)
    if (errno === null) throw error
    const message = `Cannot store the upload: the disk reported ${errno}.`
    return refuse(fault('storage_error', message, { reason: storageReason(errno), errno }))
  }
}

export const transferRoutes: readonly Route[] = [exportSession, importFile]
