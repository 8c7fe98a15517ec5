import { z } from 'zod'
import { limits } from '../value/limits.ts'

/** Which lines of a file to read. */
export type FileLinesRequest = {
  /** The file, relative to the workdir. */
  readonly path: string
  /** The first line, counted from 0 as in an edit boundary; 0 when absent. */
  readonly start?: number | undefined
  /** The largest number of lines to return. */
  readonly limit?: number | undefined
}

export const FileLinesRequest = z.strictObject({
  path: z
    .string()
    .min(1)
    .max(limits.toolPathCharsMax)
    .refine((text) => !text.includes('\0'), 'a path has no NUL character'),
  start: z.int().min(0).optional(),
  limit: z.int().min(1).max(limits.readFileLinesMax).optional(),
})

/** Some lines of a text file of the workdir, as it is now. */
export const FileLines = z.object({
  /** The path in the workdir, with links resolved. An edit boundary has this path. */
  path: z.string(),
  /** The number of the first line, counted from 0. */
  start: z.int().min(0),
  /** The lines without their ends. Of a very long line only its beginning. */
  lines: z.array(z.string()),
  /** The number of lines of the file. */
  total: z.int().min(0),
  /** The first line of the next page; null at the end of the file. */
  next: z.int().min(0).nullable(),
})
export type FileLines = z.infer<typeof FileLines>

/** A file of instructions that the model of a session is told, such as `AGENTS.md`. */
export const InstructionFile = z.object({
  /** Its path: relative to the workdir, or absolute for the user's own. */
  path: z.string(),
  /** Whose it is. That of a workspace may be written by a stranger. */
  scope: z.enum(['user', 'workspace']),
  /** The file that imports it; absent for one that is found by its name. */
  importedBy: z.string().optional(),
  /** How much of it the model is told. */
  bytes: z.int().min(0),
  /** Its end did not fit. */
  isCut: z.boolean(),
})
export type InstructionFile = z.infer<typeof InstructionFile>

/** A path that completes what a person has typed. */
export const FoundPath = z.object({
  /** Its path: relative to the workdir for a mention, absolute for a folder to work in. */
  path: z.string(),
  /** What is there. */
  type: z.enum(['file', 'folder']),
})
export type FoundPath = z.infer<typeof FoundPath>

/** Paths that complete a text, the best first. */
export const FoundPaths = z.object({
  /** What was found, the best first. */
  paths: z.array(FoundPath),
  /** More paths match, or the search was stopped before its end. */
  isCut: z.boolean(),
})
export type FoundPaths = z.infer<typeof FoundPaths>
