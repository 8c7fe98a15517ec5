import type { OnProblem } from '@holdfast/core/ports'
import type { Result } from '@holdfast/protocol'
import { openBlobSubject } from './subject/blobs.ts'
import { openInlineSubject } from './subject/inline-sqlite.ts'
import { openStoreSubject } from './subject/store.ts'
import { databaseIn, type Subject, type SubjectLocation } from './subject/subject.ts'

const ignore: OnProblem = () => undefined

export async function openSubject(
  { kind, directory }: SubjectLocation,
  onProblem: OnProblem = ignore,
): Promise<Result<Subject>> {
  switch (kind) {
    case 'blobs':
      return openBlobSubject(directory)
    case 'inline':
      return openInlineSubject(databaseIn(directory))
    default:
      return openStoreSubject(kind, directory, onProblem)
  }
}

export async function mustOpen(location: SubjectLocation, onProblem?: OnProblem): Promise<Subject> {
  const opened = await openSubject(location, onProblem)
  if (!opened.ok) throw new Error(`${location.kind}: ${opened.fault.message}`)
  return opened.value
}
