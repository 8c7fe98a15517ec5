import { fault, type Result, refuse, type Stats, type StatsOptions } from '@holdfast/protocol'

export type ExportRequest = {
  readonly format?: 'md' | 'html' | 'json' | 'jsonl' | undefined
  readonly redact?: boolean | undefined
}

/** The result of importing one file. */
export type ImportAnswer = {
  readonly status: string
  readonly session: string | null
  readonly format: string | null
  readonly messages: number
  readonly remarks: readonly { readonly code: string; readonly what: string; readonly line?: number | undefined }[]
}

/** Exports and imports whole sessions, and counts what the store holds. */
export interface Archive {
  /** Exports a session piece by piece, without opening it. */
  export(name: string, options: ExportRequest): Promise<Result<AsyncIterable<string>>>
  /** Imports the sessions of a file. The file is only read. */
  importFile(path: string, options: { readonly from?: string | undefined }): Promise<Result<readonly ImportAnswer[]>>
  stats(options: StatsOptions): Promise<Result<Stats>>
}

const unavailable = async (): Promise<Result<never>> =>
  refuse(fault('not_found', 'This server has no export, import or statistics.'))

export const noArchive: Archive = { export: unavailable, importFile: unavailable, stats: unavailable }
