import type { ImportedConversation, Remark } from './conversation.ts'
import type { JsonObject } from './json.ts'

export const formatNames = ['holdfast', 'minga', 'ggcode', 'picoclaw', 'claude-code', 'codex', 'pi'] as const
/** The programs whose files can be imported. */
export type FormatName = (typeof formatNames)[number]

/** Parses the lines of a file one by one; `end` returns the conversation. */
export interface LineParser {
  /** `index` counts the lines that are not blank from 0, including damaged ones. */
  add(value: JsonObject, line: number, index: number): void
  end(): ImportedConversation
}

/** A format with one JSON object per line. */
export type LineFormat = {
  readonly name: FormatName
  /** Returns whether a line can only be of this format. */
  readonly owns: (value: JsonObject) => boolean
  /** The program describes a session in a file beside it, named by `companionName`. */
  readonly hasCompanion?: boolean | undefined
  readonly parse: (remark: Remark, readCompanion: ReadCompanionFile) => LineParser
}

/** A format with one JSON document per session. */
export type DocumentFormat = {
  readonly name: FormatName
  readonly owns: (value: JsonObject) => boolean
  readonly parse: (value: JsonObject, remark: Remark) => ImportedConversation
}

/** Reads the companion file; null if there is none. */
export type ReadCompanionFile = () => string | null
