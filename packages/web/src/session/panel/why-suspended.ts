import { escapeLine, type FileLines, type Result } from '@holdfast/protocol'

/**
 * Returns why all edits of a file with a boundary are denied: it is no longer the file that the lines were counted in. Null
 * if it still is, or if that is not known. `read` is what the path of the boundary has now.
 */
export function whySuspended(path: string, read: Result<Pick<FileLines, 'path'>>): string | null {
  if (read.ok) {
    if (read.value.path === path) return null
    const now = escapeLine(read.value.path)
    return `Suspended: the file was replaced by a link to ${now}. All edits are denied until you set the boundary again.`
  }
  const { code } = read.fault
  if (code === 'not_found')
    return 'Suspended: the file is gone. A file with its content is not edited either, until you put it back or clear the boundary.'
  if (code === 'outside_workdir')
    return 'Suspended: the path leads out of the working directory now. All edits are denied until you set the boundary again.'
  return null
}
