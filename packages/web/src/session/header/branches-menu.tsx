import {
  escapeLine,
  type Fault,
  type ListedBranch,
  type Message,
  MessageId,
  type SessionHandle,
  type SessionView,
} from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { counted, relativeTime } from '../../text/format.ts'
import { messageText } from '../../text/message-text.ts'
import { FaultNote } from '../../ui/elements.tsx'
import { HeaderMenu } from '../../ui/popover.tsx'
import { showToast } from '../../ui/toast.tsx'
import { useNow } from '../../ui/use-now.ts'
import { useSession, whyHistoryLocked } from '../state/session-context.ts'

type BranchesMenuProps = { readonly view: SessionView; readonly turns: number; readonly messages: number }

/** Shows the branches as a tree. Hidden while there is only one line. */
export function BranchesMenu({ view, turns, messages }: BranchesMenuProps) {
  const { handle, live, asks } = useSession()
  const [isOpen, setOpen] = useState(false)
  const [refused, setRefused] = useState<Fault | null>(null)
  const [moving, setMoving] = useState<string | null>(null)
  const nowMs = useNow()
  const { branches, fault } = useBranches(handle, view, isOpen)
  // A branch without messages is the start, which every rewind leads to.
  const count = view.branches.filter((branch) => branch.messages > 0).length
  if (count === 0) return null

  const hold = whyHistoryLocked(live)
  const move = async (name: string) => {
    setMoving(name)
    const came = await asks.switchBranch(name)
    setRefused(came)
    setMoving(null)
    if (came) return
    setOpen(false)
    showToast({ text: `You are on ${escapeLine(name)} now. What you left is saved as a branch.` })
  }
  const problem = refused ?? fault
  const row = (branch: ShownBranch) => (
    <li key={branch.name}>
      <BranchRow branch={branch} nowMs={nowMs} hold={moving === null ? hold : 'Switching…'} onMove={move} />
    </li>
  )
  return (
    <HeaderMenu label={counted(count, 'branch', 'branches')} title="Branches" isOpen={isOpen} onOpen={setOpen}>
      <FaultNote fault={problem} />
      {!branches && !problem && <p className="menu-word working">Loading</p>}
      {isOpen && branches && (
        <ul className="tree" aria-label="Branches of this session">
          {partingsOf(
            branches.filter(({ messages }) => messages > 0),
            live.messages,
          ).map((parting) => (
            <li key={parting.turn ?? 'start'} className="tree-turn">
              <p>{turnText(parting.turn, live.messages)}</p>
              <ul>{parting.branches.map(row)}</ul>
            </li>
          ))}
          <li className="tree-here">
            <p aria-current="true">
              <strong>{view.branch === null ? 'You are here' : escapeLine(view.branch)}</strong>
              <span>
                {view.branch !== null && 'you are here · '}
                {counted(turns, 'turn')} · {counted(messages, 'message')}
              </span>
            </p>
          </li>
        </ul>
      )}
    </HeaderMenu>
  )
}

type BranchRowProps = {
  readonly branch: ShownBranch
  readonly nowMs: number
  /** Why switching is disabled, or null. */
  readonly hold: string | null
  readonly onMove: (name: string) => void
}

function BranchRow({ branch: { name, turns, at, first, last }, nowMs, hold, onMove }: BranchRowProps) {
  const ago = relativeTime(at, nowMs)
  return (
    <button
      type="button"
      className="branch"
      disabled={hold !== null}
      title={hold ?? 'Switch to this branch; the current line is saved'}
      onClick={() => onMove(name)}
    >
      <strong dir="auto">{last ? messageText(last) : escapeLine(name)}</strong>
      <span>
        {escapeLine(name)} · {counted(turns, 'turn')} · saved {ago === 'now' ? 'just now' : `${ago} ago`}
      </span>
      {(first === null || first.id !== last?.id) && (
        <span className="branch-first" dir="auto">
          {first ? `begins with: ${messageText(first)}` : 'Ends here; the current line continues it.'}
        </span>
      )}
    </button>
  )
}

/** Names the turn after which branches diverge by its prompt. */
function turnText(turn: number | null, messages: readonly Message[]): string {
  if (turn === null) return 'The start'
  const prompt = messages.find((message) => message.turn === turn && message.kind === 'user')
  return `After ${prompt ? `“${messageText(prompt)}”` : `turn ${turn}`}`
}

type ShownBranches = { readonly branches: readonly ShownBranch[] | null; readonly fault: Fault | null }

const nothing: ShownBranches = { branches: null, fault: null }

/** Loads the branches while the menu is open, again after each move. */
function useBranches(
  handle: SessionHandle,
  { branches: kept, branch }: Pick<SessionView, 'branches' | 'branch'>,
  isOn: boolean,
): ShownBranches {
  const [shown, setShown] = useState(nothing)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a move is what changes the answer
  useEffect(() => {
    if (!isOn) return
    let isLeft = false
    const load = async () => {
      const listed = await handle.branches()
      if (isLeft) return
      if (!listed.ok) return setShown((before) => ({ ...before, fault: listed.fault }))
      const branches = await Promise.all(listed.value.map((one) => withFirst(handle, one)))
      if (!isLeft) setShown({ branches, fault: null })
    }
    load()
    return () => {
      isLeft = true
    }
  }, [handle, kept, branch, isOn])
  return shown
}

async function withFirst(handle: SessionHandle, branch: ListedBranch): Promise<ShownBranch> {
  const { name, differsAt } = branch
  const end = await handle.page({ branch: name, limit: endLimit })
  const last = (end.ok && end.value.messages.findLast(({ kind }) => kind === 'user')) || null
  if (differsAt === null) return { ...branch, first: null, last }
  const page = await handle.page({ branch: name, before: MessageId.parse(differsAt + 1), limit: 1 })
  return { ...branch, first: (page.ok && page.value.messages.find(({ id }) => id === differsAt)) || null, last }
}

/** So many messages at the end of a branch usually have its last prompt. */
const endLimit = 20

/** A branch, its first message that is not on the current line, and its last prompt; null if there is none. */
export type ShownBranch = ListedBranch & { readonly first: Message | null; readonly last: Message | null }

/** The branches that diverge after `turn`, or before the first turn. */
type Parting = { readonly turn: number | null; readonly branches: readonly ShownBranch[] }

/** Groups branches by where they diverge. `known` are the loaded messages of the line. */
export function partingsOf(branches: readonly ShownBranch[], known: readonly Message[]): readonly Parting[] {
  const partings = new Map<number | null, ShownBranch[]>()
  for (const branch of branches) {
    const turn = lastSharedTurn(branch, known)
    partings.set(turn, [...(partings.get(turn) ?? []), branch])
  }
  return [...partings]
    .map(([turn, branches]) => ({ turn, branches }))
    .sort((left, right) => (left.turn ?? -1) - (right.turn ?? -1))
}

/** Returns the last turn that a branch shares with the line. */
function lastSharedTurn({ differsAt, turns, first }: ShownBranch, known: readonly Message[]): number | null {
  if (differsAt === null) return turns === 0 ? null : turns - 1 // the line continues it
  if (!first || first.parent === null) return null
  const shared = known.find(({ id }) => id === first.parent)
  if (shared) return shared.turn
  if (first.kind !== 'user') return first.turn // a message was added to the end of a turn
  return first.turn === 0 ? null : first.turn - 1
}
