import type { Answers, QuestionField } from '@holdfast/protocol'
import { escapeHidden } from '@holdfast/protocol/hostile-text'
import { describeField, readField } from '../sessions/ask-questions.ts'
import type { OpenQuestion } from './screen.ts'

type Filling = {
  readonly question: OpenQuestion
  readonly fields: readonly QuestionField[]
  /** The values so far, in the order of the fields; undefined for one that is left out. */
  readonly values: readonly (Answers[string] | undefined)[]
}

const isSame = (one: OpenQuestion, other: OpenQuestion): boolean =>
  one.id === other.id && one.child?.id === other.child?.id

/** Asks for the fields of a server's question one after the other: each typed line is the value of the next field. */
export function createQuestionForm(note: (text: string) => Promise<void>) {
  let filling: Filling | null = null

  async function askNext(): Promise<void> {
    const field = filling?.fields[filling.values.length]
    if (field) await note(`  ${describeField(field)}:`)
  }

  return {
    /** Starts to ask. */
    async open(question: OpenQuestion, fields: readonly QuestionField[]): Promise<void> {
      filling = { question, fields, values: [] }
      await note('  Type each value on a line of its own. /cancel gives no answer.')
      await askNext()
    },
    /** Returns the question that is being answered, or null. A question that no longer waits closes the form. */
    current(open: readonly OpenQuestion[]): OpenQuestion | null {
      const { question } = filling ?? {}
      if (question && !open.some((one) => isSame(one, question))) filling = null
      return filling?.question ?? null
    },
    /** Adds a value. Returns all answers after the last one, otherwise null. */
    async add(text: string): Promise<Answers | null> {
      const field = filling?.fields[filling.values.length]
      if (!filling || !field) return null
      const read = readField(field, text)
      if (!read.ok) await note(`  ${escapeHidden(read.fault.message)}`)
      else filling = { ...filling, values: [...filling.values, read.value] }
      const { fields, values } = filling
      if (values.length < fields.length) await askNext()
      if (values.length < fields.length) return null
      filling = null
      return toAnswers(fields, values)
    },
  }
}

const toAnswers = (fields: readonly QuestionField[], values: Filling['values']): Answers =>
  Object.fromEntries(
    fields.flatMap(({ name }, index) => {
      const value = values[index]
      return value === undefined ? [] : [[name, value] as const]
    }),
  )
