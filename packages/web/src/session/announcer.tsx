import type { LiveView } from '@holdfast/client'
import { escapeLine, type SessionView } from '@holdfast/protocol'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import { isBusy } from '../text/format.ts'
import { askedSummary, questionOf } from './approval/question-text.ts'
import { createNarrator } from './state/narrator.ts'
import type { Control } from './state/session-context.ts'
import type { Asked } from './subagents/asked.ts'

/** How long words are collected: a screen reader that is interrupted for each token says nothing. */
const collectMs = 500

type AnnouncerProps = {
  readonly live: LiveView
  /** How the session is, in a sentence: said when it changes. */
  readonly state: string
  /** Whether it waits for an answer. */
  readonly isAsked: boolean
}

/** Tells a screen reader what happens: the only live region of a session. It says finished paragraphs, never tokens. */
export function Announcer({ live, state, isAsked }: AnnouncerProps) {
  const [said, setSaid] = useState('')
  const heard = useEffectEvent(() => ({ live: live.live, messages: live.messages, state }))
  const first = useEffectEvent(() => ({ ...heard(), state: isAsked ? '' : state })) // a question that waits is news
  const changed = useRef(() => {})
  useEffect(() => {
    const narrator = createNarrator(first())
    let timer: ReturnType<typeof setTimeout> | undefined
    const speak = () => {
      timer = undefined
      const sentences = narrator.next(heard())
      if (sentences.length > 0) setSaid(sentences.join('\n'))
    }
    changed.current = () => {
      timer ??= setTimeout(speak, collectMs)
    }
    const leave = live.subscribe(changed.current)
    return () => {
      leave()
      clearTimeout(timer)
    }
  }, [live])
  // The state also changes without news of this session: by a subagent that asks, or by another screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the state changes
  useEffect(() => changed.current(), [state])
  return (
    <div className="hidden-text" role="status" aria-label="What happens">
      {said}
    </div>
  )
}

type State = {
  readonly view: SessionView
  readonly control: Pick<Control, 'watching' | 'isLost' | 'driver'>
  /** What waits for an answer, the first first. */
  readonly asked: readonly Asked[]
}

/** Says how a session is. A lost connection is said elsewhere, for all screens. */
export function stateSentence({ view, control: { watching, isLost, driver }, asked }: State): string {
  const who = watching === null || isLost || driver === null ? '' : 'Another screen has control. '
  const [first] = asked
  if (first) return `${who}Waiting for you: ${questionOf(first.approval)} ${askedSummary(first.approval)}`
  if (isBusy(view.status)) return `${who}Working`
  const end = view.lastTurn
  if (end === null) return who.trim()
  return `${who}${end.fault ? escapeLine(end.fault.message) : endWords[end.reason]}`
}

const endWords: Readonly<Record<NonNullable<SessionView['lastTurn']>['reason'], string>> = {
  done: 'Finished',
  aborted: 'Stopped',
  failed: 'The model could not answer',
  interrupted: 'Interrupted: the server stopped during this turn',
  limit: 'Stopped at a limit',
}
