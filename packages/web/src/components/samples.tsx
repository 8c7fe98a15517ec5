import { ApprovalId, CallId, type Fault, type PendingApproval, type SessionHandle } from '@holdfast/protocol'
import { FileDiff } from '../diff/file-diff.tsx'
import { Markdown } from '../markdown/markdown.tsx'
import { ApprovalCard } from '../session/approval/approval-card.tsx'
import { QuestionCard } from '../session/approval/question-card.tsx'
import { Collapsible } from '../ui/collapsible.tsx'
import { FaultNote } from '../ui/elements.tsx'
import { Key } from '../ui/key.tsx'

const handle = {} as SessionHandle // short previews read nothing
const done = async (): Promise<Fault | null> => null

const ask = (id: number, tool: string, more: Pick<PendingApproval, 'preview'> & Partial<PendingApproval>) => ({
  id: ApprovalId.parse(id),
  call: CallId.parse(id),
  tool,
  ...more,
})
const diff =
  '--- a/src/lamp.ts\n+++ b/src/lamp.ts\n@@ -1,2 +1,2 @@\n-const speed = "slow"\n+const speed = "fast"\n const on = true\n'
const command = ask(1, 'shell', {
  preview: { type: 'command', command: 'npm publish', cwd: '/projects/lighthouse' },
  rule: 'your rule `npm publish`',
})
const edit = ask(2, 'edit_file', { preview: { type: 'diff', path: 'src/lamp.ts', diff } })
const question = {
  type: 'question' as const,
  from: 'harbour',
  message: 'Which pier?',
  fields: [{ name: 'pier', title: 'Pier', kind: 'text' as const, isRequired: true }],
}

const roles = [
  'ground',
  'panel',
  'raised',
  'sunken',
  'accent',
  'accent-soft',
  'ask',
  'ask-soft',
  'bad',
  'good',
] as const
const states = ['idle', 'running', 'asked', 'complete', 'error', 'interrupted', 'plan'] as const
const prose =
  '## A heading\n\nText with `code`, **weight** and a [link](https://example.com).\n\n- one\n- two\n\n```ts\nconst speed = "fast"\n```'

/** Shows the parts that screens are made of, each as it looks with typical content. */
export function Samples() {
  return (
    <>
      <h2>Colours and type</h2>
      <ul className="swatches">
        {roles.map((role) => (
          <li key={role} data-role={role}>
            <span className={`swatch swatch-${role}`} aria-hidden="true" />
            {role}
          </li>
        ))}
      </ul>
      <p className="type-title">Title</p>
      <p className="type-heading">Heading</p>
      <p>Text</p>
      <p className="type-control">Control</p>
      <p className="type-meta">Meta</p>
      <h2>Buttons, states and notes</h2>
      <p className="sample-row">
        <button type="button">Button</button>
        <button type="button" className="primary">
          Primary
        </button>
        <button type="button" className="quiet">
          Quiet
        </button>
        <button type="button" disabled>
          Disabled
        </button>
        <Key name="y" />
      </p>
      <p className="sample-row">
        {states.map((state) => (
          <span key={state}>
            <span className={`dot ${state}`} aria-hidden="true" /> {state}
          </span>
        ))}
        <span>
          <span className="ask-mark" aria-hidden="true">
            ◆
          </span>{' '}
          waits
        </span>
      </p>
      <FaultNote fault={{ code: 'unreachable', message: 'The server does not respond. Try again.' }} />
      <h2>Questions</h2>
      <ApprovalCard approval={command} handle={handle} place={{ at: 1, of: 3 }} onDecide={done} />
      <ApprovalCard approval={edit} handle={handle} place={{ at: 2, of: 3 }} onDecide={done} />
      <QuestionCard approval={ask(3, 'harbour', { preview: question })} question={question} onAnswer={done} />
      <h2>Text, folds and changes</h2>
      <div className="prose">
        <Markdown text={prose} />
      </div>
      <Collapsible className="tool" isOpenAtFirst head={<span className="tool-name">A fold</span>}>
        {() => <p>Its content.</p>}
      </Collapsible>
      <FileDiff handle={handle} preview={{ type: 'diff', path: 'src/lamp.ts', diff }} />
    </>
  )
}
