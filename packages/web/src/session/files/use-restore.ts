import {
  commandResult,
  type Fault,
  isLeftByMove,
  type RefusedFile,
  type RestoredName,
  type RestoreInput,
  type RestorePreview,
} from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { useSession } from '../state/session-context.ts'

/** What a restore has done: the files that it changed, and those that stayed. */
export type DoneRestore = {
  readonly isUndo: boolean
  readonly changed: readonly RestoredName[]
  readonly refused: readonly RefusedFile[]
}

export type Restore = {
  /** What it would do now; null while it loads, and once it is done. */
  readonly preview: RestorePreview | null
  /** What the last click did, or null. */
  readonly done: DoneRestore | null
  readonly fault: Fault | null
  readonly run: () => void
  readonly undo: () => void
}

/** Previews a restore of files, runs it and undoes it. After an undo there is a preview again. */
export function useRestore(request: RestoreInput): Restore {
  const { handle, asks } = useSession()
  const [preview, setPreview] = useState<RestorePreview | null>(null)
  const [done, setDone] = useState<DoneRestore | null>(null)
  const [fault, setFault] = useState<Fault | null>(null)
  const [asked] = useState(request) // keeps the first request: a redraw passes an equal object

  const isPreviewed = done === null || done.isUndo
  useEffect(() => {
    if (!isPreviewed) return
    let isLeft = false
    handle.previewRestore(asked).then((found) => {
      if (isLeft) return
      setFault(found.ok ? null : found.fault)
      setPreview(found.ok ? found.value : null)
    })
    return () => {
      isLeft = true
    }
  }, [handle, asked, isPreviewed])

  const submit = async (what: RestoreInput, isUndo: boolean) => {
    const answer = await asks.restoreFiles(what)
    if (!answer.ok) return setFault(answer.fault)
    const { restored, refused } = commandResult('restoreFiles', answer.value)
    setFault(null)
    setPreview(null)
    setDone({ isUndo, changed: restored.filter((file) => file.action !== 'none' && !isLeftByMove(file)), refused })
  }
  return {
    preview,
    done,
    fault,
    run: () => void submit(asked, false),
    undo: () => void submit({ undo: true }, true),
  }
}
