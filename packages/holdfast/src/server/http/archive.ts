import { fault, type Result, refuse, type Stats, type StatsOptions } from '@holdfast/protocol'

export type ExportAsked = {
  readonly format?: 'md' | 'html' | 'json' | 'jsonl' | undefined
  readonly redact?: boolean | undefined
}

/** What became of a file that was sent to be imported. */
export type ImportAnswer = {
  readonly status: string
  readonly session: string | null
  readonly format: string | null
  readonly messages: number
  readonly remarks: readonly { readonly code: string; readonly what: string; readonly line?: number | undefined }[]
}

/** Whole sessions, given out and taken in, and the store as a whole. */
export interface Archive {
  /** A session written out, piece by piece, without waking it. */
  export(name: string, options: ExportAsked): Promise<Result<AsyncIterable<string>>>
  /** Takes over the sessions of a file, which is only read. */
  importFile(path: string, options: { readonly from?: string | undefined }): Promise<Result<readonly ImportAnswer[]>>
  stats(options: StatsOptions): Promise<Result<Stats>>
}

const nothing = async (): Promise<Result<never>> => refuse(fault('not_found', 'This server gives out no archives.'))

/** For a server that was given none. */
export const noArchive: Archive = { export: nothing, importFile: nothing, stats: nothing }
