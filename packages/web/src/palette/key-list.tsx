import { Keys } from '../keys/key-hint.tsx'
import { type KeyName, keyEntry, keyNames } from '../keys/key-table.ts'
import { useAvailableKeys } from '../keys/use-key.ts'
import { Dialog } from '../ui/dialog.tsx'

/** Returns the keys by group. Those of the page itself are left out while nothing handles them. */
function groupsOf(available: readonly KeyName[]) {
  const names = keyNames.filter((name) => {
    const { group, keys } = keyEntry(name)
    return keys.length > 0 && (group !== 'Page' || available.includes(name))
  })
  return Map.groupBy(names.map(keyEntry), ({ group }) => group)
}

const notes: { readonly [group: string]: string } = {
  'This session': 'Alt with an arrow goes from turn to turn outside the message box.',
  Writing: 'In the message box.',
  'A row of the list': 'On the session that has the focus.',
  Questions: 'The letters work on the question that has the focus.',
}

/** Lists all keys of the page, from their table. */
export function KeyList({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard too */}
      <section className="key-list" aria-label="All keys" tabIndex={0}>
        {[...groupsOf(useAvailableKeys())].map(([group, entries]) => (
          <section key={group} aria-label={group}>
            <h3>{group}</h3>
            {notes[group] && <p>{notes[group]}</p>}
            <dl>
              {entries.map(({ text, keys }) => (
                <div key={text}>
                  <dt>{text}</dt>
                  <dd>
                    {keys.map((combination) => (
                      <Keys key={combination} combination={combination} />
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </section>
    </Dialog>
  )
}
