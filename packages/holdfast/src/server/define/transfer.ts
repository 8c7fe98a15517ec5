import { type ExportOptions, fault, type ImportAnswer, type Result, refuse } from '@holdfast/protocol'

type ImportChoice = {
  readonly from?: string | undefined
  readonly keepSettings?: boolean | undefined
  /** Stops the import, for example when the client leaves. */
  readonly signal?: AbortSignal | undefined
}

/** Exports and imports whole sessions. */
export interface Transfer {
  /** Exports a session piece by piece, without opening it. */
  export(name: string, options: ExportOptions): Promise<Result<AsyncIterable<string>>>
  /** Imports the sessions of a file. The file is only read. */
  importFile(path: string, options: ImportChoice): Promise<Result<ImportAnswer['files']>>
}

const unavailable = async (): Promise<Result<never>> =>
  refuse(fault('not_found', 'This server has no export and no import.'))

export const noTransfer: Transfer = { export: unavailable, importFile: unavailable }
