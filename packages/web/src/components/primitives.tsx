import { useState } from 'react'
import { Picker, SuggestField } from '../ui/combobox.tsx'
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx'
import { DialogButton } from '../ui/dialog-button.tsx'
import { ContextMenu, Menu, MenuChoices, MenuItem, MenuLink, MenuSeparator, Submenu } from '../ui/menu.tsx'
import { HeaderMenu } from '../ui/popover.tsx'
import { Switch } from '../ui/switch.tsx'
import { showToast } from '../ui/toast.tsx'
import { Tooltip } from '../ui/tooltip.tsx'

const fruits = [
  { label: 'Soft', items: ['apricot', 'banana', 'cherry'] },
  { label: 'Hard', items: ['apple', 'pear'] },
]

/** Shows every primitive, and says what was done with it last. */
export function Primitives() {
  const [last, setLast] = useState('nothing yet')
  const [folder, setFolder] = useState('')
  const [fruit, setFruit] = useState('pear')
  const [isOn, setOn] = useState(false)
  return (
    <>
      <p role="status" aria-label="Last action">
        {last}
      </p>
      <p className="menu-choices">
        <Menu trigger={<button type="button">Menu</button>} label="Actions">
          <Actions fruit={fruit} onChoose={setLast} onFruit={setFruit} />
        </Menu>
        <ContextMenu target={<button type="button">Right click here</button>} label="Actions here">
          <Actions fruit={fruit} onChoose={setLast} onFruit={setFruit} />
        </ContextMenu>
        <DialogButton
          dialog={(close) => (
            <Dialog title="A dialog" onClose={close} footer={<button type="button">Apply</button>}>
              <div className="dialog-body">
                <input aria-label="Name" />
              </div>
            </Dialog>
          )}
        >
          Dialog
        </DialogButton>
        <DialogButton
          dialog={(close) => (
            <ConfirmDialog
              title="Delete this?"
              confirm="Delete"
              isDanger
              onConfirm={() => setLast('deleted')}
              onClose={close}
            >
              It can be restored from the trash.
            </ConfirmDialog>
          )}
        >
          Confirm
        </DialogButton>
        <HeaderMenu label="Popover" title="A popover">
          <p>It may contain anything.</p>
          <button type="button" onClick={() => setLast('pressed inside')}>
            Press
          </button>
        </HeaderMenu>
        <Tooltip text="Explains the button" keys="Ctrl+K">
          <button type="button">Tooltip</button>
        </Tooltip>
        <button
          type="button"
          onClick={() => showToast({ text: 'Moved', action: { name: 'Undo', onChoose: () => setLast('undone') } })}
        >
          Toast
        </button>
      </p>
      <SuggestField
        label="Folder"
        value={folder}
        onChange={setFolder}
        suggestions={['/projects/one', '/projects/two'].filter((path) => path.startsWith(folder))}
      />
      <p>
        <Picker
          trigger={<button type="button">Fruit: {fruit}</button>}
          label="Fruit"
          groups={fruits}
          value={fruit}
          idOf={(name) => name}
          nameOf={(name) => name}
          textOf={(name) => name}
          draw={(name) => <span className="option-name">{name}</span>}
          onChoose={setFruit}
        />
      </p>
      <Switch label="Sounds" text="A short tone when a turn ends." isOn={isOn} onChange={setOn} />
    </>
  )
}

type ActionsProps = {
  readonly fruit: string
  readonly onChoose: (what: string) => void
  readonly onFruit: (fruit: string) => void
}

const Actions = ({ fruit, onChoose, onFruit }: ActionsProps) => (
  <>
    <MenuItem name="Rename" keys="F2" onChoose={() => onChoose('renamed')} />
    <MenuItem name="Fork" text="Start a new session with the same history." onChoose={() => onChoose('forked')} />
    <MenuItem name="Compact" hold="A turn is running." onChoose={() => onChoose('compacted')} />
    <Submenu name="Export">
      <MenuItem name="Markdown" onChoose={() => onChoose('exported')} />
      <MenuLink href="#json" name="JSON" />
    </Submenu>
    <MenuSeparator />
    <MenuChoices
      label="Fruit"
      value={fruit}
      choices={[
        { value: 'apple', name: 'Apple' },
        { value: 'pear', name: 'Pear' },
      ]}
      onChoose={onFruit}
    />
    <MenuSeparator />
    <MenuItem name="Delete" isDanger onChoose={() => onChoose('deleted')} />
  </>
)
