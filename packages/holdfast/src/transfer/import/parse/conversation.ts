import type { ClientEvent, Usage } from '@holdfast/protocol'

/** The line of a message in its file, and its time; null if the file does not say. */
export type Origin = { readonly line: number; readonly at: number | null }

export type FileAttachment = { readonly type: 'file'; readonly bytes: Uint8Array; readonly name?: string | undefined }
export type ImportedPart = { readonly type: 'text'; readonly text: string } | FileAttachment

/** Whether a person pinned the message. */
type Pinned = { readonly isPinned?: true | undefined }

export type AnswerPart = Pinned &
  (
    | { readonly type: 'thinking' | 'text'; readonly text: string }
    | { readonly type: 'call'; readonly id: string; readonly tool: string; readonly args: unknown }
  )

export type ImportedAnswer = Origin & {
  readonly role: 'assistant'
  readonly parts: readonly AnswerPart[]
  readonly usage?: Usage | undefined
}

/** The result of a call; it may come anywhere after the call. */
export type CallResult = Origin & {
  readonly role: 'result'
  readonly callId: string
  readonly text: string
  readonly outcome: 'ok' | 'failed' | 'interrupted'
  readonly durationMs?: number | undefined
  /** Its images; they become a message after it. */
  readonly files?: readonly FileAttachment[] | undefined
}

/** From here on the model gets the summary and what follows `keepFrom`; if that is null, nothing before this point. */
export type Checkpoint = Origin & {
  readonly role: 'checkpoint'
  readonly summary: string
  readonly keepFrom: ImportedMessage | null
}

/** A message of another program, in a form common to all formats. */
export type ImportedMessage =
  | (Origin & Pinned & { readonly role: 'user'; readonly parts: readonly ImportedPart[] })
  | ImportedAnswer
  | CallResult
  | Checkpoint
  /** For people; not sent to a model. */
  | (Origin & { readonly role: 'note'; readonly level: 'info' | 'error'; readonly text: string })
  /** An event between clients of the other program; `complete`: such events cover the whole session. */
  | (Origin & { readonly role: 'client'; readonly event: ClientEvent; readonly complete?: true | undefined })
  /** Usage that no answer contains. */
  | (Origin & { readonly role: 'usage'; readonly usage: Usage })

/** The session fields of a file. */
type SourceInfo = {
  /** The id in the other program. */
  readonly id?: string | undefined
  /** The key that the other program finds it by. */
  readonly key?: string | undefined
  readonly title?: string | undefined
  readonly workdir?: string | undefined
  /** `provider/model`, or the model alone. */
  readonly model?: string | undefined
  readonly createdAt?: number | undefined
  readonly updatedAt?: number | undefined
  /** What the whole session used, if the file says so; more than its messages may say. */
  readonly usage?: Usage | undefined
}

/** A line other than the current one. Messages that lines share are the same objects. */
type ImportedBranch = {
  readonly name: string | null
  readonly messages: readonly ImportedMessage[]
}

/** The parsed content of a file. */
export type ImportedConversation = {
  readonly about: SourceInfo
  readonly messages: readonly ImportedMessage[]
  readonly branches: readonly ImportedBranch[]
}

/** Something the import found or changed; `line` counts from 1 and is null for the whole file. */
export type ImportRemark = { readonly line: number | null; readonly code: RemarkCode; readonly what: string }

/** What an import changed or left out. */
export type RemarkCode =
  | 'damaged_line'
  | 'fused_line'
  | 'torn_tail'
  | 'nul_bytes'
  | 'line_too_long'
  | 'not_utf8'
  | 'byte_order_mark'
  | 'damaged_file'
  | 'damaged_meta'
  | 'missing_meta'
  | 'unknown_record'
  | 'unknown_part'
  | 'parts_joined'
  | 'parts_dropped'
  | 'text_split'
  | 'text_cut'
  | 'several_sessions'
  | 'unusable_message'
  | 'empty_text'
  | 'orphan_call'
  | 'orphan_result'
  | 'late_result'
  | 'repeated_message'
  | 'malformed_arguments'
  | 'checkpoint_dropped'
  | 'branch_dropped'
  | 'side_chain'
  | 'signature_dropped'
  | 'file_dropped'
  | 'file_changed'
  | 'file_moved'
  | 'workdir_missing'
  | 'workdir_dropped'
  | 'model_unknown'
  | 'unsafe_id'
  | 'handle_changed'
  | 'key_dropped'
  | 'pin_dropped'
  | 'id_changed'
  | 'brought_to_rest'
  | 'trust_revoked'
  | 'permissions_dropped'
  | 'instructions_dropped'
  | 'provider_options_dropped'
  | 'subagent_unlinked'
  | 'blob_missing'

export type Remark = (line: number | null, code: RemarkCode, what: string) => void
