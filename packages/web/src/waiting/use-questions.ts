import type { Fault, PendingApproval, SessionHandle, Sessions } from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { useScreens } from '../screens/use-screens.ts'

export type Questions = {
  readonly handle: SessionHandle | null
  readonly approvals: readonly PendingApproval[]
  readonly fault: Fault | null
}

const none: Questions = { handle: null, approvals: [], fault: null }

/** Reads what a session waits for, again at each piece of news about it. */
export function useQuestions(sessions: Sessions, id: string): Questions {
  const screens = useScreens()
  const [questions, setQuestions] = useState(none)
  useEffect(() => {
    let isLeft = false
    const load = async () => {
      const opened = await sessions.open(id)
      const state = opened.ok ? await opened.value.state(['pendingApprovals']) : opened
      if (isLeft) return
      if (!state.ok) return setQuestions((known) => ({ ...known, fault: state.fault }))
      setQuestions({ handle: opened.ok ? opened.value : null, approvals: state.value.pendingApprovals, fault: null })
    }
    void load()
    const leave = screens.follow({
      onNews: (news) => isAbout(news, id) && void load(),
      onMissed: () => void load(),
    })
    return () => {
      isLeft = true
      leave()
    }
  }, [sessions, screens, id])
  return questions
}

type News = Parameters<Parameters<ReturnType<typeof useScreens>['follow']>[0]['onNews']>[0]

const isAbout = ({ session }: News, id: string): boolean => (typeof session === 'string' ? session : session.id) === id
