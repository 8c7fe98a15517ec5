import { escapeLine, type InstructionFile } from '@holdfast/protocol'
import { FaultNote } from '../../ui/elements.tsx'
import { useLoaded } from '../../ui/use-loaded.ts'
import { FileButton } from '../file-view/file-view.tsx'
import { useLive, useSession } from '../state/session-context.ts'
import { Loading, PanelSection } from './panel-section.tsx'

/** Lists the files of instructions, such as `AGENTS.md`, that the model is told. */
export function InstructionsSection({ workspace }: { readonly workspace: string }) {
  const { value: files, fault } = useInstructionFiles(workspace)
  return (
    <PanelSection title="Instructions">
      <FaultNote fault={fault} />
      {files === null && !fault && <Loading />}
      {files?.length === 0 && !fault && <p className="nothing">No AGENTS.md tells the model how to work here.</p>}
      <ul className="instructions">
        {files?.map((file) => (
          <li key={file.path}>
            {isOpenable(file) ? <FileButton path={file.path} /> : <code>{escapeLine(file.path)}</code>}
            <span className="panel-about">{aboutOf(file)}</span>
          </li>
        ))}
      </ul>
      {files !== null && files.length > 1 && <p className="nothing">Later ones count more.</p>}
    </PanelSection>
  )
}

/** Only files of the workdir can be shown. */
const isOpenable = ({ scope, path }: InstructionFile): boolean => scope === 'workspace' && !path.startsWith('../')

function aboutOf({ scope, importedBy, isCut }: InstructionFile): string {
  const whose = scope === 'user' ? 'yours' : 'of the workspace'
  return [importedBy === undefined ? whose : `imported by ${escapeLine(importedBy)}`, isCut ? 'cut' : []]
    .flat()
    .join(' · ')
}

/** Loads the list, again after each turn: the model may have read files of other folders. */
function useInstructionFiles(workspace: string) {
  const { handle } = useSession()
  const status = useLive(({ view }) => view?.status)
  return useLoaded(() => handle.instructionFiles(), [handle, workspace, status])
}
