import type { Fault, FileLines } from '@holdfast/protocol'
import { useEffect, useState } from 'react'
import { useSession } from '../state/session-context.ts'

/** Loads a file page by page. */
export function useFile(path: string) {
  const { handle } = useSession()
  const [file, setFile] = useState<FileLines | null>(null)
  const [fault, setFault] = useState<Fault | null>(null)
  const [isLoading, setLoading] = useState(false)
  useEffect(() => {
    let isLeft = false
    handle.readFile({ path }).then((read) => {
      if (isLeft) return
      if (read.ok) setFile(read.value)
      else setFault(read.fault)
    })
    return () => {
      isLeft = true
    }
  }, [handle, path])
  const loadMore = async () => {
    if (file?.next == null) return
    setLoading(true)
    const read = await handle.readFile({ path: file.path, start: file.next })
    setLoading(false)
    setFault(read.ok ? null : read.fault)
    if (read.ok) setFile({ ...read.value, start: 0, lines: [...file.lines, ...read.value.lines] })
  }
  return { file, fault, isLoading, loadMore }
}
