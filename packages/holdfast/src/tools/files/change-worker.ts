import { parentPort } from 'node:worker_threads'
import { ok, type Result } from '@holdfast/protocol'
import { maskKeys, registerKey } from '../../system/secrets/known-keys.ts'
import { foreseen } from '../define/define-tool.ts'
import { type DiffedChange, diffEdit, editedContent, type FileEdit } from './file-change.ts'

/** One piece of work for the thread. The keys of the process are masked in what it returns. */
export type ChangeJob = { readonly keys: readonly string[] } & Readonly<
  { type: 'diff'; edit: FileEdit } | { type: 'content'; edit: Extract<FileEdit, { type: 'replace' }> }
>

export type ChangeAnswers = { diff: DiffedChange; content: string }

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
  const diffed = await diffEdit(job.edit)
  return diffed.ok ? ok({ ...diffed.value, diff: maskKeys(diffed.value.diff) }) : diffed
}

parentPort?.on('message', async (job: ChangeJob) => parentPort?.postMessage(await answer(job)))
