import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import org.apache.log4j.Level;
import org.apache.log4j.LogManager;
import org.swordapp.client.AtomStatement;
import org.swordapp.client.AuthCredentials;
import org.swordapp.client.Content;
import org.swordapp.client.Deposit;
import org.swordapp.client.DepositReceipt;
import org.swordapp.client.EntryPart;
import org.swordapp.client.OreStatement;
import org.swordapp.client.SWORDClient;
import org.swordapp.client.SWORDCollection;
import org.swordapp.client.SWORDError;
import org.swordapp.client.Statement;

/** The Java client of SWORD 2.0, release 0.9.3. Prints a line for each check; ends with 1 if one failed. */
public class Sword2Client {
  interface Check {
    void run() throws Exception;
  }

  static final String SIMPLE_ZIP = "http://purl.org/net/sword/package/SimpleZip";
  static final SWORDClient client = new SWORDClient();
  static final String url = System.getenv("SERVICE_URL");
  static final AuthCredentials auth =
      new AuthCredentials(System.getenv("SERVICE_CLIENT"), System.getenv("SERVICE_PASSWORD"));
  static boolean failed = false;

  public static void main(String[] args) throws Exception {
    LogManager.getRootLogger().setLevel(Level.OFF);
    byte[] zip = Files.readAllBytes(Path.of(System.getenv("SERVICE_FILES"), "tree.zip"));
    byte[] tar = Files.readAllBytes(Path.of(System.getenv("SERVICE_FILES"), "tree.tar"));
    check("sword2-client for Java finds its collection", () -> {
      equal(client.getServiceDocument(url + "/1/servicedocument/", auth).getVersion(), "2.0");
      equal(collection().getHref().toString(), url + "/1/" + System.getenv("SERVICE_COLLECTION") + "/");
    });
    check("sword2-client for Java deposits a zip, adds the metadata, completes, and reads both Statements", () -> {
      DepositReceipt receipt = client.deposit(collection(), binary("tree.zip", "application/zip", zip, true), auth);
      equal(receipt.getStatusCode(), 201);
      client.addToContainer(receipt, entry("java"), auth);
      client.complete(receipt, auth);
      waitUntilDone(receipt);
      Content content = client.getContent(receipt.getEditMediaLink(), SIMPLE_ZIP, auth);
      equal(HexFormat.of().formatHex(content.getInputStream().readAllBytes()), HexFormat.of().formatHex(zip));
      Statement ore = client.getStatement(receipt.getOREStatementLink().getHref(), new OreStatement(), auth);
      equal(ore.getOriginalDeposits().size(), 1);
    });
    check("sword2-client for Java deposits a tar in multipart/related", () -> {
      DepositReceipt receipt = client.deposit(collection(), multipart("tree.tar", "application/x-tar", tar), auth);
      equal(receipt.getStatusCode(), 201);
      client.complete(receipt, auth);
      waitUntilDone(receipt);
    });
    check("sword2-client for Java adds to the media, replaces them, and deletes the deposit", () -> {
      DepositReceipt receipt = client.deposit(collection(), binary("tree.zip", "application/zip", zip, true), auth);
      equal(client.addToMediaResource(receipt, binary("tree.tar", "application/x-tar", tar, true), auth).getStatusCode(), 201);
      equal(client.replaceMedia(receipt, binary("tree.tar", "application/x-tar", tar, true), auth).getStatusCode(), 204);
      equal(client.deleteContainer(receipt, auth).getStatusCode(), 204);
    });
    check("sword2-client for Java reports a refusal by its status", () -> {
      Deposit damaged = binary("tree.zip", "application/zip", zip, true);
      damaged.setMd5("00000000000000000000000000000000");
      try {
        client.deposit(collection(), damaged, auth);
      } catch (SWORDError error) {
        equal(error.getStatus(), 412);
        return;
      }
      throw new AssertionError("it was not refused");
    });
    System.exit(failed ? 1 : 0);
  }

  static SWORDCollection collection() throws Exception {
    return client.getServiceDocument(url + "/1/servicedocument/", auth).getWorkspaces().get(0).getCollections().get(0);
  }

  static Deposit binary(String name, String type, byte[] bytes, boolean inProgress) throws Exception {
    Deposit deposit = new Deposit();
    deposit.setFile(new ByteArrayInputStream(bytes));
    deposit.setContentLength(bytes.length);
    deposit.setFilename(name);
    deposit.setMimeType(type);
    deposit.setMd5(HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(bytes)));
    deposit.setPackaging(SIMPLE_ZIP);
    deposit.setInProgress(inProgress);
    return deposit;
  }

  static Deposit entry(String title) {
    EntryPart part = new EntryPart();
    part.getEntry().setTitle(title);
    part.getEntry().addAuthor("Ada Lovelace");
    Deposit deposit = new Deposit();
    deposit.setEntryPart(part);
    deposit.setInProgress(true);
    return deposit;
  }

  static Deposit multipart(String name, String type, byte[] bytes) throws Exception {
    Deposit deposit = binary(name, type, bytes, true);
    deposit.setEntryPart(entry("java-multipart").getEntryPart());
    return deposit;
  }

  static void waitUntilDone(DepositReceipt receipt) throws Exception {
    String status = "";
    for (int tries = 0; tries < 120; tries++) {
      Statement statement = client.getStatement(receipt.getAtomStatementLink().getHref(), new AtomStatement(), auth);
      status = statement.getState().get(0).getIri().toString();
      if (status.endsWith("done")) return;
      if (status.endsWith("rejected") || status.endsWith("failed")) break;
      Thread.sleep(500);
    }
    throw new AssertionError("the deposit is " + status);
  }

  static void equal(Object found, Object expected) {
    if (!found.equals(expected)) throw new AssertionError(found + ", not " + expected);
  }

  static void check(String title, Check work) {
    try {
      work.run();
      System.out.println("  ✔ " + title);
    } catch (Exception | AssertionError error) {
      failed = true;
      error.printStackTrace();
      System.out.println("  ✘ " + title);
    }
  }
}
