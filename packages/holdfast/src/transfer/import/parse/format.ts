import type { ImportedConversation, Remark } from './conversation.ts'
import type { Loose } from './loose.ts'

export const formatNames = ['holdfast', 'minga', 'ggcode', 'picoclaw', 'claude-code', 'codex', 'pi'] as const
export type FormatName = (typeof formatNames)[number]

/** Takes the lines of a file one after the other; what it made of them is known at the end. */
export interface LineParser {
  /** `place` counts the lines that are not blank, damaged ones included, from 0. */
  add(value: Loose, line: number, place: number): void
  end(): ImportedConversation
}

/** A program whose sessions are one JSON object a line. */
export type LineFormat = {
  readonly name: FormatName
  /** Whether a line can only be one of its own. */
  readonly owns: (value: Loose) => boolean
  readonly parse: (remark: Remark, beside: Beside) => LineParser | Promise<LineParser>
}

/** A program whose sessions are one JSON document each. */
export type DocumentFormat = {
  readonly name: FormatName
  readonly owns: (value: Loose) => boolean
  readonly parse: (value: Loose, remark: Remark) => ImportedConversation
}

/** Reads the file beside this one whose name ends in `to` instead of `from`; null when there is none. */
export type Beside = (from: string, to: string) => Promise<string | null>
