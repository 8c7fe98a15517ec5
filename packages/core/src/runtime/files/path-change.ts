import type { BeforeImage, Seq } from '@holdfast/protocol'
import type { LeftState } from '../../ports/workspace-files.ts'

/** What one record says about one path: what was there before, and what is there after it. */
export type PathChange = {
  readonly seq: Seq
  /** The call that changed it; null for a restore by a person, and for a shell command of a slash command. */
  readonly call: Seq | null
  readonly path: string
  readonly before: BeforeImage
  /** Null if it is not known. */
  readonly after: LeftState | null
  /** The path that the file came from, if it was moved here. */
  readonly movedFrom?: string | undefined
  /** Set for what a call had done when it was aborted: it happened before the call was settled, and not at `seq`. */
  readonly isLate?: true | undefined
  /** Set for what an interrupted restore was about to do, as long as no later record tells whether it did. */
  readonly isOpen?: true | undefined
  /** Set for what was found at the end of a command in the background: others may have changed it while the command ran. */
  readonly isDuring?: true | undefined
}
