import {
  type Answers,
  checkAnswers,
  ok,
  type QuestionField,
  type QuestionPreview,
  type Result,
} from '@holdfast/protocol'
import { escapeHidden, escapeLine } from '@holdfast/protocol/hostile-text'
import { type AskDeps, askLine } from '../terminal/prompt-user.ts'

export type Reply = { readonly decision: 'approve' | 'reject' | 'cancel'; readonly answers?: Answers }

/** Puts a question of a running call to the person at the terminal. Ctrl-C and the end of the input cancel. */
export async function askPerson(preview: QuestionPreview, deps: AskDeps): Promise<Reply> {
  const { from, message, url, fields } = preview
  await deps.err.tell(`? ${escapeLine(from)} asks: ${escapeHidden(message)}`)
  if (url !== undefined)
    await deps.err.tell(`  It wants you to open this page. It is not opened for you:\n  ${escapeLine(url)}`)
  const words = url === undefined ? 'Do you want to answer' : 'Have you opened it, or will you'
  const isWilling = await askYesOrNo(`  ${words}? yes or no: `, deps)
  if (isWilling === null) return { decision: 'cancel' }
  if (!isWilling) return { decision: 'reject' }
  const answers: [string, Answers[string]][] = []
  for (const field of fields) {
    const value = await askField(field, deps)
    if (value === null) return { decision: 'cancel' }
    if (value !== undefined) answers.push([field.name, value])
  }
  return { decision: 'approve', ...(fields.length > 0 && { answers: Object.fromEntries(answers) }) }
}

/** Asks until the answer is yes or no. Returns null if the person cancels. */
async function askYesOrNo(question: string, deps: AskDeps): Promise<boolean | null> {
  for (;;) {
    const typed = await askLine(question, deps)
    if (typed === null) return null
    if (/^y(es)?$/i.test(typed.trim())) return true
    if (/^no?$/i.test(typed.trim())) return false
  }
}

/** Asks for one field until its value is right. Returns undefined if it is left out, and null if the person cancels. */
async function askField(field: QuestionField, deps: AskDeps): Promise<Answers[string] | null | undefined> {
  for (;;) {
    const typed = await askLine(`  ${describeField(field)}: `, deps)
    if (typed === null) return null
    const read = readField(field, typed)
    if (read.ok) return read.value
    await deps.err.tell(`  ${escapeHidden(read.fault.message)}`)
  }
}

/** Reads the value of a field from a typed line. Returns undefined if it is empty and may be left out. */
export function readField(field: QuestionField, typed: string): Result<Answers[string] | undefined> {
  const value = typed.trim() === '' ? undefined : toValue(field, typed.trim())
  const checked = checkAnswers([field], value === undefined ? {} : { [field.name]: value })
  return checked.ok ? ok(value) : checked
}

/** Describes a field: what it is, and which values it takes. */
export function describeField({
  name,
  title,
  description,
  kind,
  options = [],
  isRequired,
  default: otherwise,
}: QuestionField): string {
  const about = [title ?? name, ...(description === undefined ? [] : [description])].join(', ')
  const choices = options.map(({ value, label }) => (value === label ? value : `${value}: ${label}`)).join(', ')
  const hints = [
    ...(kind === 'choice' ? [`one of ${choices}`] : kind === 'choices' ? [`any of ${choices}, with commas`] : []),
    ...(kind === 'boolean' ? ['yes or no'] : []),
    ...(otherwise !== undefined ? [`default ${String(otherwise)}`] : isRequired ? [] : ['optional']),
  ]
  return escapeLine(hints.length === 0 ? about : `${about} (${hints.join('; ')})`)
}

function toValue({ kind }: QuestionField, typed: string): Answers[string] {
  if (kind === 'number' || kind === 'integer') return Number.isNaN(Number(typed)) ? typed : Number(typed)
  if (kind === 'choices') return typed.split(',').map((one) => one.trim())
  if (kind !== 'boolean') return typed
  return /^(y(es)?|true)$/i.test(typed) ? true : /^(no?|false)$/i.test(typed) ? false : typed
}
