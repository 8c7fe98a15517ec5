import type { DatabaseSync } from 'node:sqlite'
import { HoldfastError } from '@holdfast/protocol/fault'
import { ok, type Result, refuse } from '@holdfast/protocol/result'
import { faultOf, storageFault } from '../../storage-fault.ts'
import type { HeldFiles } from '../files/held-files.ts'
import { answerFrom, createQuestions } from '../read/reader.ts'
import type { Question, ReadRequests } from '../rows/requests.ts'

/** Answers questions from the writer's connection: another one to the same file would take time to open. */
export function createAnswers(
  path: string,
  database: DatabaseSync,
  files: Pick<HeldFiles, 'findMoved'>,
): (question: Question) => Result<unknown> {
  let questions: ReadRequests | null = null // prepared on first use: most writers answer none
  return (question) => {
    try {
      const moved = files.findMoved()
      if (moved !== null) return refuse(storageFault(path, moved))
      questions ??= createQuestions(database)
      return ok(answerFrom(database, questions, question))
    } catch (error) {
      return refuse(error instanceof HoldfastError ? error.toFault() : faultOf(error, path))
    }
  }
}
