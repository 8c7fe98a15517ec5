import { collectTouched, ok, type Result, type Seq, type SessionHandle, type TouchedFiles } from '@holdfast/protocol'

/** Reads the changes of a session, newest first, up to the limits, and lists their files. */
export async function readTouched(handle: Pick<SessionHandle, 'fileChanges'>): Promise<Result<TouchedFiles>> {
  const touched = collectTouched()
  for (let before: Seq | null | undefined; before !== null; ) {
    const page = await handle.fileChanges({ before })
    if (!page.ok) return page
    before = touched.add(page.value)
  }
  return ok(touched.list())
}
