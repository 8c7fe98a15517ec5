import { z } from 'zod'
import type { Fault } from '../value/fault.ts'
import { SessionId } from '../value/id.ts'
import type { Result } from '../value/result.ts'
import { parseOptions } from './parse-options.ts'

const fileNameCharsMax = 255

/** How to export a session. */
export type ExportOptions = {
  /** `md` when absent. */
  readonly format?: 'md' | 'html' | 'json' | 'jsonl' | undefined
  /** Removes what looks like a key, a token, an e-mail address or a home directory. */
  readonly redact?: boolean | undefined
}

export const ExportOptions = z.strictObject({
  format: z.enum(['md', 'html', 'json', 'jsonl'], 'give md, html, json or jsonl').optional(),
  redact: z.boolean().optional(),
})

/** A file to import, as bytes. Its content decides its format. */
export type ImportFile = {
  /** The original name of the file, with its extension. */
  readonly name: string
  /** The content of the file. */
  readonly bytes: Uint8Array
}

export const ImportFile = z.strictObject({
  name: z.string().max(fileNameCharsMax, `at most ${fileNameCharsMax} characters`),
  bytes: z.instanceof(Uint8Array),
})

/** Parses one file or several to import. Refused: bad_request. */
export function parseImportFiles(given: unknown): Result<readonly ImportFile[]> {
  return parseOptions(z.array(ImportFile), Array.isArray(given) ? given : [given], 'import')
}

/** Returns the name of the file beside a session file that may describe it, as picoclaw writes one; null if there is none. */
export const companionName = (name: string): string | null =>
  name.endsWith('.jsonl') ? `${name.slice(0, -'.jsonl'.length)}.meta.json` : null

/** A file to import, and the one given with it that may describe it. */
export type ImportPair<Named> = { readonly file: Named; readonly companion?: Named | undefined }

/** Pairs files that are given together by their names, as a folder does. A name that is given twice is in two folders. */
export function pairImportFiles<Named extends { readonly name: string }>(
  files: readonly Named[],
): readonly ImportPair<Named>[] {
  const byName = Map.groupBy(files, ({ name }) => name)
  const seen = new Map<string, number>()
  const taken = new Set<Named>()
  const pairs = files.map((file): ImportPair<Named> => {
    const folder = seen.get(file.name) ?? 0
    seen.set(file.name, folder + 1)
    const beside = companionName(file.name)
    const companion = beside === null ? undefined : byName.get(beside)?.[folder]
    if (companion === undefined) return { file }
    taken.add(companion)
    return { file, companion }
  })
  return pairs.filter(({ file }) => !taken.has(file))
}

/** How to import a file. */
export type ImportChoice = {
  /** Keeps the instructions, provider options, permissions and trust of a session of another Holdfast. */
  readonly keepSettings?: boolean | undefined
  /** Stops the import. */
  readonly signal?: AbortSignal | undefined
}

export const ImportChoice = z.strictObject({
  keepSettings: z.boolean().optional(),
  signal: z.instanceof(AbortSignal).optional(),
})

/** The result of one imported file, and what the import changed. */
export type ImportResult = {
  /** The name of the file. */
  readonly file: string
  /** The program that wrote it; null if unknown. */
  readonly format: string | null
  /** What became of it, for example `imported`, `skipped` or `failed`. */
  readonly status: string
  /** The session it became; null if there is none. */
  readonly session: SessionId | null
  /** How many messages it has. */
  readonly messages: number
  /** What the import changed or left out, with the line of the file. */
  readonly remarks: readonly { readonly line: number | null; readonly code: string; readonly what: string }[]
  /** Why it failed or was skipped. */
  readonly fault?: Fault | undefined
}

/** The answer of a server to the import of one file. */
export const ImportAnswer = z.object({
  files: z.array(
    z.object({
      status: z.string(),
      session: SessionId.nullable(),
      format: z.string().nullable(),
      messages: z.int(),
      remarks: z.array(z.object({ code: z.string(), what: z.string(), line: z.int().optional() })),
    }),
  ),
})
export type ImportAnswer = z.infer<typeof ImportAnswer>
