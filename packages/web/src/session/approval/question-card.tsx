import {
  type Answers,
  checkAnswers,
  type Decision,
  escapeHidden,
  escapeLine,
  type Fault,
  type PendingApproval,
  type QuestionField,
  type QuestionPreview,
} from '@holdfast/protocol'
import { type FormEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { FaultNote } from '../../ui/elements.tsx'
import { useArmed } from '../../ui/use-armed.ts'
import { ApprovalHead, type Place } from './approval-card.tsx'
import { useAnswerKeys } from './approval-keys.ts'
import { type Entered, enteredDefault, toAnswers } from './question-answers.ts'

type QuestionCardProps = {
  readonly approval: PendingApproval
  readonly question: QuestionPreview
  /** Says which subagent asks; absent for the session itself. */
  readonly mark?: ReactNode
  /** Its place among those that wait, from 1; absent if it is alone. */
  readonly place?: Place | undefined
  readonly onAnswer: (decision: Decision, answers: Answers | undefined) => Promise<Fault | null>
}

/** Puts the question of a running call to the person: fields to fill in, or a page to open. */
export function QuestionCard({ approval, question, mark, place, onAnswer }: QuestionCardProps) {
  const { from, message, fields, url } = question
  const [entered, setEntered] = useState<Entered>(() => new Map(fields.map((one) => [one.name, enteredDefault(one)])))
  const [fault, setFault] = useState<Fault | null>(null)
  const [isSending, setSending] = useState(false)
  const isArmed = useArmed(String(approval.id))
  const card = useRef<HTMLElement>(null)
  const title = useId()

  useEffect(() => {
    // Never take the focus from a person who is writing.
    if (document.activeElement === document.body) card.current?.focus({ preventScroll: true })
  }, [])

  const answer = async (decision: Decision) => {
    const given = decision === 'approve' && fields.length > 0 ? toAnswers(fields, entered) : undefined
    const checked = given && checkAnswers(fields, given)
    if (checked && !checked.ok) return setFault(checked.fault)
    setSending(true)
    setFault(await onAnswer(decision, given))
    setSending(false)
  }
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (isArmed && !isSending) void answer('approve')
  }
  const isOff = !isArmed || isSending
  const onKeyDown = useAnswerKeys(card, (decision) => {
    if (isOff || (decision !== 'approve' && decision !== 'reject')) return false
    void answer(decision)
    return true
  })
  return (
    <section className="approval" ref={card} tabIndex={-1} aria-labelledby={title} onKeyDown={onKeyDown}>
      <ApprovalHead id={title} title={`${escapeLine(from)} asks you`} tool={approval.tool} place={place} />
      {mark}
      <form className="question" onSubmit={onSubmit} noValidate>
        <div className="approval-body">
          <p className="question-text">{escapeHidden(message)}</p>
          {url !== undefined && <PageLink url={url} />}
          {fields.map((field) => (
            <FieldInput
              key={field.name}
              field={field}
              value={entered.get(field.name)}
              onEnter={(value) => setEntered((before) => new Map(before).set(field.name, value))}
            />
          ))}
        </div>
        <FaultNote fault={fault} />
        <div className="question-buttons">
          <button type="button" disabled={isOff} onClick={() => answer('cancel')}>
            Cancel
          </button>
          <button type="button" disabled={isOff} onClick={() => answer('reject')}>
            Decline
          </button>
          <button type="submit" className="primary" disabled={isOff}>
            {url === undefined ? 'Send answer' : 'I have opened it'}
          </button>
        </div>
      </form>
    </section>
  )
}

/** Shows a URL whole. Only a click opens it, and the page learns nothing of this one. */
function PageLink({ url }: { readonly url: string }) {
  return (
    <p className="question-page">
      It wants you to open this page. Check the address first:
      <a href={url} target="_blank" rel="noopener noreferrer">
        {escapeLine(url)}
      </a>
    </p>
  )
}

type FieldInputProps = {
  readonly field: QuestionField
  readonly value: Entered extends ReadonlyMap<string, infer Value> ? Value | undefined : never
  readonly onEnter: (value: string | boolean | readonly string[]) => void
}

function FieldInput({ field, value, onEnter }: FieldInputProps) {
  const { name, title, description, kind, isRequired, options = [] } = field
  const id = useId()
  const label = `${escapeLine(title ?? name)}${isRequired ? '' : ' (optional)'}`
  const about = description === undefined ? undefined : `${id}-about`
  const shared = { id, 'aria-describedby': about, required: isRequired }
  const note = description !== undefined && <small id={about}>{escapeLine(description)}</small>
  if (kind === 'boolean')
    return (
      <div className="question-field">
        <label className="question-check">
          <input
            type="checkbox"
            id={id}
            aria-describedby={about}
            checked={value === true}
            onChange={(event) => onEnter(event.target.checked)}
          />
          {escapeLine(title ?? name)}
        </label>
        {note}
      </div>
    )
  if (kind === 'choices') {
    const chosen = Array.isArray(value) ? value : []
    return (
      <fieldset className="question-field" aria-describedby={about}>
        <legend>{label}</legend>
        {options.map((option) => (
          <label key={option.value} className="question-check">
            <input
              type="checkbox"
              checked={chosen.includes(option.value)}
              onChange={(event) =>
                onEnter(event.target.checked ? [...chosen, option.value] : chosen.filter((one) => one !== option.value))
              }
            />
            {escapeLine(option.label)}
          </label>
        ))}
        {note}
      </fieldset>
    )
  }
  const text = typeof value === 'string' ? value : ''
  return (
    <div className="question-field">
      <label htmlFor={id}>{label}</label>
      {kind === 'choice' ? (
        <select {...shared} value={text} onChange={(event) => onEnter(event.target.value)}>
          <option value="">Choose…</option>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {escapeLine(option.label)}
            </option>
          ))}
        </select>
      ) : (
        <input {...shared} type={inputType(field)} value={text} onChange={(event) => onEnter(event.target.value)} />
      )}
      {note}
    </div>
  )
}

const inputType = ({ kind, format }: QuestionField): string =>
  kind === 'text' ? (format === 'email' || format === 'date' ? format : format === 'uri' ? 'url' : 'text') : 'number'
