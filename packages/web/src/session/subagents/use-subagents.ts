import type { LiveView } from '@holdfast/client'
import {
  type ChildView,
  type Fault,
  type SessionHandle,
  SessionId,
  type Sessions,
  type SessionView,
} from '@holdfast/protocol'
import { createContext, useContext, useEffect, useMemo, useState } from 'react'
import { goTo } from '../../ui/route.ts'
import { type Asked, askedOf, joinChildren, splitAsked } from './asked.ts'

/** The subagents of the session on screen. */
export type Subagents = {
  /** Those of the whole tree, oldest first. */
  readonly children: readonly ChildView[]
  /** The one that is open beside the session. */
  readonly opened: SessionId | null
  readonly open: (child: SessionId) => void
  readonly close: () => void
  /** Stops one and what it waits for. Returns why not, if refused. */
  readonly stop: (child: SessionId) => Promise<Fault | null>
  /** The handle of one, for what its previews keep elsewhere. */
  readonly handleOf: (child: SessionId) => ReturnType<Sessions['open']>
}

const unknown = () => Promise.reject(new Error('This is drawn inside a session only.'))
const nothing = () => undefined

export const SubagentsContext = createContext<Subagents>({
  children: [],
  opened: null,
  open: nothing,
  close: nothing,
  stop: unknown,
  handleOf: unknown,
})

export const useSubagents = (): Subagents => useContext(SubagentsContext)

export type SubagentsOnScreen = {
  readonly subagents: Subagents
  /** All approvals that wait in the tree. */
  readonly asked: readonly Asked[]
  /** Those of the opened subagent and below it: it shows them itself. */
  readonly inside: readonly Asked[]
  readonly outside: readonly Asked[]
}

type Opened = {
  readonly sessions: Sessions
  readonly handle: SessionHandle
  readonly live: LiveView
  readonly view: SessionView | null
  /** The name of the session and of the opened subagent in the route. */
  readonly name: string
  readonly child: string | undefined
}

const noApprovals: SessionView['pendingApprovals'] = []

/** Follows the subagents of a session, and opens one beside it. */
export function useSubagentsOf({ sessions, handle, live, view, name, child }: Opened): SubagentsOnScreen {
  const children = useChildren(handle, live)
  const opened = child === undefined ? null : (SessionId.safeParse(child).data ?? null)
  const { client } = live
  const subagents = useMemo(
    (): Subagents => ({
      children,
      opened,
      open: (child) => goTo({ at: 'session', name, child }),
      close: () => goTo({ at: 'session', name }),
      async stop(child) {
        const found = await sessions.open(child)
        if (!found.ok) return found.fault
        const answer = await found.value.submit({ type: 'abort' }, { as: client })
        return answer.ok ? null : answer.fault
      },
      handleOf: (child) => sessions.open(child),
    }),
    [sessions, client, children, opened, name],
  )
  const own = view?.pendingApprovals ?? noApprovals
  const questions = useMemo(() => {
    const asked = askedOf(own, children)
    return { asked, ...splitAsked(asked, children, opened) }
  }, [own, children, opened])
  return { subagents, ...questions }
}

const noChildren: readonly ChildView[] = []

/** Returns the subagents of the stream, and those that ended before the server started. */
function useChildren(handle: SessionHandle, live: LiveView): readonly ChildView[] {
  const [stored, setStored] = useState(noChildren)
  const isConnected = live.connection.state === 'live' // again after a restart of the server
  useEffect(() => {
    if (!isConnected) return
    let isLeft = false
    handle.subagents().then((found) => {
      // Without an answer the cards show what their calls know.
      if (found.ok && !isLeft) setStored(found.value)
    })
    return () => {
      isLeft = true
    }
  }, [handle, isConnected])
  const shown = live.here?.children ?? noChildren
  return useMemo(() => joinChildren(stored, shown), [stored, shown])
}
