import type { Answers, AnswerValue, QuestionField } from '@holdfast/protocol'

/** What the person has entered, by field: text as typed, before it becomes a number. */
export type Entered = ReadonlyMap<string, string | boolean | readonly string[]>

/** Returns what a field shows first. */
export function enteredDefault({ kind, default: given }: QuestionField): string | boolean | readonly string[] {
  if (kind === 'boolean') return given === true
  if (kind === 'choices') return Array.isArray(given) ? given : []
  return given === undefined ? '' : String(given)
}

/** Turns what was entered into an answer. An empty field is left out, unless it must have a value. */
export function toAnswers(fields: readonly QuestionField[], entered: Entered): Answers {
  return Object.fromEntries(
    fields.flatMap((field): readonly [string, AnswerValue][] => {
      const value = entered.get(field.name)
      if (value === undefined || value === '') return []
      if (typeof value === 'boolean') return [[field.name, value]]
      if (typeof value !== 'string') return value.length === 0 && !field.isRequired ? [] : [[field.name, [...value]]]
      const isNumber = field.kind === 'number' || field.kind === 'integer'
      return [[field.name, isNumber && !Number.isNaN(Number(value)) ? Number(value) : value]]
    }),
  )
}
