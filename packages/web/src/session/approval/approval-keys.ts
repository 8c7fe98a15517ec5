import type { Decision } from '@holdfast/protocol'
import { type KeyboardEvent, type RefObject, useEffect, useEffectEvent } from 'react'
import { type KeyName, keyEntry } from '../../keys/key-table.ts'
import { isField, useKey } from '../../keys/use-key.ts'
import { returnToMessageBox } from '../../ui/message-box.tsx'

/** What the keys of the table answer on a card that has the focus. */
const answers = {
  approveOnce: 'approve',
  approveTurn: 'approve_turn',
  approveSession: 'approve_session',
  approveAlways: 'approve_always',
  reject: 'reject',
} as const satisfies Partial<Record<KeyName, Decision>>

type AnswerName = keyof typeof answers
export type KeyDecision = (typeof answers)[AnswerName]

const names = Object.keys(answers) as readonly AnswerName[] // its own keys

/** Returns the last key of a combination of the table, as it is written on the keyboard. */
const lastKey = (name: KeyName): string => keyEntry(name).keys[0]?.split('+').at(-1) ?? ''

/** Returns the key of a decision. */
export const keyOf = (decision: KeyDecision): string => {
  const name = names.find((one) => answers[one] === decision)
  return name === undefined ? '' : lastKey(name).toLowerCase()
}

/** A card that appears so soon after a person answered or chose one is expected by them. */
const expectedMs = 5000
let answeredAtMs = Number.NEGATIVE_INFINITY

/** Notes that a person answered or chose a card just now. */
export const noteAnswer = (): void => {
  answeredAtMs = performance.now()
}

/** Returns whether a person works through the cards now, so that a letter is meant for the next one. */
export const isAtCards = (nowMs = performance.now()): boolean => nowMs - answeredAtMs < expectedMs

/** The message box while it has the focus of a card that is gone. It is free until a person presses something. */
let lentTo: Element | null = null
const endLoan = () => {
  lentTo = null
}

/** Gives the focus of the last card to the message box, once it was answered. */
export function lendFocus(): void {
  if (document.querySelector('.approval') !== null || document.activeElement !== document.body) return
  if (!returnToMessageBox()) return
  lentTo = document.activeElement
  for (const gesture of ['keydown', 'pointerdown']) addEventListener(gesture, endLoan, { once: true, capture: true })
}

/** Returns whether a card that appears may take the focus: nobody writes, and no other thing has it. */
export const isFocusFree = (): boolean =>
  document.activeElement === document.body || (document.activeElement === lentTo && isAtCards())

type Pressed = Pick<globalThis.KeyboardEvent, 'key' | 'ctrlKey' | 'altKey' | 'metaKey' | 'repeat' | 'isComposing'>

/** Returns what a key on a card decides; null if it decides nothing. A key that is held down decides once. */
export function decisionOf(pressed: Pressed): KeyDecision | null {
  if (pressed.ctrlKey || pressed.altKey || pressed.metaKey || pressed.repeat || pressed.isComposing) return null
  const name = names.find((one) => lastKey(one) === pressed.key.toUpperCase())
  return name === undefined ? null : answers[name]
}

/** Returns the card that the keys from anywhere answer: the one with the focus, else the first of what lies on top. */
function cardInReach(): Element | null {
  const focused = document.activeElement?.closest('.approval')
  return focused ?? document.querySelector('.child-pane .approval') ?? document.querySelector('.approval')
}

/** What decides about each card that is drawn. */
const decides = new WeakMap<Element, (decision: KeyDecision) => boolean>()

/** Keys that are held down answer one card, and not the next that appears in its place. */
let isHeld = false
const release = () => {
  isHeld = false
}

/** Answers the card in reach. Returns whether there is one that could be answered. */
function answerInReach(decision: KeyDecision): boolean {
  const card = cardInReach()
  if (isHeld || card === null || card.closest('fieldset:disabled')) return false
  isHeld = decides.get(card)?.(decision) ?? false
  if (isHeld) addEventListener('keyup', release, { once: true })
  return isHeld
}

/**
 * Answers a card by keys. Returns the handler for the card itself; the keys from anywhere are in the table of keys. `decide`
 * returns whether it took the decision.
 */
export function useAnswerKeys(card: RefObject<HTMLElement | null>, decide: (decision: KeyDecision) => boolean) {
  const latest = useEffectEvent(decide)
  useEffect(() => {
    if (card.current) decides.set(card.current, (decision) => latest(decision))
  }, [card])
  useKey('approveFirst', () => answerInReach('approve'))
  useKey('rejectFirst', () => answerInReach('reject'))
  return (event: KeyboardEvent) => {
    if (isField(event.target) || card.current?.closest('fieldset:disabled')) return
    const decision = decisionOf(event.nativeEvent)
    if (decision !== null && decide(decision)) event.preventDefault()
  }
}
