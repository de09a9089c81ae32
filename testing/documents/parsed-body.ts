import { SaxesParser } from 'saxes';

/** Namespaces as the names of elements begin with them. */
export const ATOM = '{http://www.w3.org/2005/Atom}';
export const APP = '{http://www.w3.org/2007/app}';
export const SWORD = '{http://purl.org/net/sword/terms/}';
export const DEPOSIT = '{https://www.softwareheritage.org/schema/2018/deposit}';

export type Parsed = {
  /** `{namespace}local` */
  readonly name: string;
  /** The name as written. */
  readonly qname: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Parsed[];
  readonly text: string;
};

/** Reads a body strictly and with namespaces; throws when it is not well-formed. */
export function parsedBody(body: string): Parsed {
  const parser = new SaxesParser({ xmlns: true });
  const top = { name: '', qname: '', attributes: {}, children: [] as Parsed[], text: '' };
  const open = [top];
  parser.on('opentag', (tag) => {
    const attributes = Object.fromEntries(
      Object.values(tag.attributes).map(({ name, value }) => [name, value]),
    );
    const element = { name: `{${tag.uri}}${tag.local}`, qname: tag.name, attributes, children: [], text: '' };
    open.at(-1)?.children.push(element);
    open.push(element);
  });
  parser.on('text', (text) => {
    const element = open.at(-1);
    if (element) element.text += text;
  });
  parser.on('closetag', () => open.pop());
  parser.write(body).close();
  const [root] = top.children;
  if (!root) throw new Error('The body has no root element.');
  return root;
}

/** Returns the texts of the children of that name. */
export function texts(parent: Parsed, name: string): string[] {
  return parent.children.filter((child) => child.name === name).map(({ text }) => text);
}

export function child(parent: Parsed, name: string): Parsed {
  const [found, ...others] = parent.children.filter((one) => one.name === name);
  if (!found || others.length > 0)
    throw new Error(`${parent.qname} has ${others.length + (found ? 1 : 0)} of ${name}.`);
  return found;
}
