import { parentPort } from 'node:worker_threads'
import type { ContentPair } from '@holdfast/core/ports'
import { boundPreview, escapeHidden, ok, type Result } from '@holdfast/protocol'
import { maskKeys, registerKey } from '../../../system/secrets/known-keys.ts'
import { foreseen } from '../../define/define-tool.ts'
import { diffPair } from './diff-pair.ts'
import { diffEdit, type EditedContent, type EditPreview, editedContent } from './file-change.ts'
import type { ContentEdit, FileEdit } from './file-edit.ts'
import { type BoundedPair, type BoundedVerdict, judgePair } from './judge-bounded.ts'

/** One piece of work for the thread. The keys of the process are masked in what it returns. */
export type ChangeJob = { readonly keys: readonly string[] } & Readonly<
  | { type: 'preview'; edit: FileEdit }
  | { type: 'content'; edit: ContentEdit }
  /** Compares two contents; null is no file. */
  | { type: 'diff'; edit: ContentPair }
  /** Judges what a command did to a file with an edit boundary. */
  | { type: 'bounded'; edit: BoundedPair }
>

export type ChangeAnswers = {
  preview: EditPreview
  content: EditedContent
  diff: { readonly diff: string }
  bounded: BoundedVerdict
}

/** The answer to a job; `broken` is our bug. */
export type ChangeAnswer =
  | { readonly type: 'done'; readonly result: Result<ChangeAnswers[keyof ChangeAnswers]> }
  | { readonly type: 'broken'; readonly why: string }

async function answer(job: ChangeJob): Promise<ChangeAnswer> {
  for (const key of job.keys) registerKey(key)
  try {
    return { type: 'done', result: await work(job).catch(foreseen) }
  } catch (cause) {
    return { type: 'broken', why: cause instanceof Error ? (cause.stack ?? cause.message) : String(cause) }
  }
}

async function work(job: ChangeJob): Promise<Result<ChangeAnswers[keyof ChangeAnswers]>> {
  if (job.type === 'content') return editedContent(job.edit)
  if (job.type === 'diff') return ok({ diff: await diffPair(job.edit) })
  if (job.type === 'bounded') return ok(await judgePair(job.edit))
  const diffed = await diffEdit(job.edit)
  return diffed.ok ? ok(toShow(diffed.value)) : diffed
}

/** Returns the preview as it is shown, and its whole text: both may be too long to be masked, escaped and cut elsewhere. */
function toShow({ preview, contentHash, alwaysAsk }: EditPreview): EditPreview {
  const diff = escapeHidden(maskKeys(preview.diff))
  const { preview: shown, whole } = boundPreview({ ...preview, diff })
  const rest = { ...(whole && { whole }), ...(alwaysAsk !== undefined && { alwaysAsk }) }
  return { preview: { ...preview, ...shown, type: 'diff' }, contentHash, ...rest }
}

/** Returns what can be handed over instead of copied. */
function buffersOf(value: ChangeAnswers[keyof ChangeAnswers]): ArrayBuffer[] {
  const parts = 'parts' in value ? value.parts : 'whole' in value ? [value.whole] : []
  const before = 'before' in value ? value.before?.bytes : undefined
  const own = [...parts, before].flatMap((one) => {
    const isOwn = one !== undefined && one.buffer.byteLength > Buffer.poolSize // a small buffer is part of a pool
    return isOwn && one.buffer instanceof ArrayBuffer ? [one.buffer] : []
  })
  return [...new Set(own)] // the new content may be made of the old one
}

parentPort?.on('message', async (job: ChangeJob) => {
  const answered = await answer(job)
  const value = answered.type === 'done' && answered.result.ok ? answered.result.value : null
  const moved = value === null ? [] : buffersOf(value)
  parentPort?.postMessage(answered, moved)
})
